#pragma once

/// \file
/// PrometheusMetrics is the series of a PrometheusObserver, and the numbers that they show.

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/prometheus/prometheus_observer.hpp"
#include "waiting_acquires.hpp"

namespace custodian {

namespace prometheus_detail {

[[nodiscard]] inline double seconds(std::chrono::nanoseconds time) noexcept {
  return std::chrono::duration<double>{time}.count();
}

/// The series of one recipe's locks, with one value of the label `lock` if that label is used.
struct LockSeries {
  std::map<AcquireOutcome, prometheus::Counter*> acquires;
  prometheus::Gauge* waiting;
  prometheus::Gauge* oldest;
  prometheus::Histogram* waits;
  prometheus::Gauge* held;
  prometheus::Histogram* holds;
  std::map<LossReason, prometheus::Counter*> lost;
  prometheus::Counter* reuses;
  std::map<KeptLockEnd, prometheus::Counter*> kept_ends;
  prometheus::Gauge* leader;  ///< null unless these are leaderships
  // Guarded by PrometheusMetrics.
  WaitingAcquires now_waiting{};
  int now_held = 0;
};

/// The same of one recipe's waits.
struct WaitSeries {
  std::map<WaitOutcome, prometheus::Counter*> ended;
  prometheus::Histogram* waits;
};

/// The same of the updates of one recipe's values.
struct UpdateSeries {
  prometheus::Counter* written;
  prometheus::Counter* unchanged;
  prometheus::Counter* failed;
  prometheus::Counter* tries;
  prometheus::Counter* promoted;
  prometheus::Histogram* durations;
};

}  // namespace prometheus_detail

/// Threads: any.
class PrometheusMetrics {
 public:
  using LockSeries = prometheus_detail::LockSeries;
  using WaitSeries = prometheus_detail::WaitSeries;
  using UpdateSeries = prometheus_detail::UpdateSeries;

  PrometheusMetrics(std::shared_ptr<prometheus::Registry> registry, PrometheusOptions options);

  [[nodiscard]] LockSeries& of_lock(std::string_view recipe, std::string_view path);
  [[nodiscard]] WaitSeries& of_wait(std::string_view recipe, std::string_view path);
  [[nodiscard]] UpdateSeries& of_value(std::string_view recipe, std::string_view path);
  void on_acquire_begun(const AcquireBegun& event);
  void on_acquire_ended(const AcquireEnded& event);
  /// A lease has begun (+1), or is over (-1).
  void on_held(LockSeries& series, int change);
  void on_retried(const OperationRetried& event);
  void on_connection(const ConnectionChanged& event);

 private:
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  using Labels = prometheus::Labels;
  template <typename Metric>
  using Family = prometheus::Family<Metric>;
  /// The recipe, and the value of the label `lock`.
  using Key = std::pair<std::string, std::string>;

  [[nodiscard]] Family<Counter>& counter(const std::string& name, const std::string& help) const;
  [[nodiscard]] Family<Gauge>& gauge(const std::string& name, const std::string& help) const;
  [[nodiscard]] Family<Histogram>& histogram(const std::string& name,
                                             const std::string& help) const;
  [[nodiscard]] Labels labels(Labels others) const;
  /// The series of the recipe and the path; `make` makes the series of a new key.
  template <typename Series>
  [[nodiscard]] Series& series_at(std::map<Key, Series>& all, std::string_view recipe,
                                  std::string_view path,
                                  Series (PrometheusMetrics::*make)(const Labels&) const);
  /// Returns `label`, or "other" if the observer uses as many other labels as it may. The caller
  /// holds the mutex.
  [[nodiscard]] std::string bounded(std::string label);
  /// The caller holds the mutex.
  static void show_waiting(const LockSeries& series);
  [[nodiscard]] LockSeries lock_series(const Labels& of_lock) const;
  [[nodiscard]] WaitSeries wait_series(const Labels& of_wait) const;
  [[nodiscard]] UpdateSeries update_series(const Labels& of_value) const;
  void set_state(ConnectionState now) const;

  const std::shared_ptr<prometheus::Registry> registry_;
  const PrometheusOptions options_;

  Family<Counter>& acquires_;
  Family<Gauge>& waiting_;
  Family<Gauge>& oldest_;
  Family<Histogram>& waits_;
  Family<Gauge>& held_;
  Family<Histogram>& holds_;
  Family<Counter>& lost_;
  Family<Counter>& reuses_;
  Family<Counter>& kept_ends_;
  Family<Gauge>& leaders_;
  Family<Counter>& ended_waits_;
  Family<Histogram>& wait_times_;
  Family<Counter>& updates_;
  Family<Counter>& tries_;
  Family<Counter>& promoted_;
  Family<Histogram>& update_times_;
  Family<Counter>& retries_;
  Family<Gauge>& states_;
  Counter& reconnects_;
  Counter& sessions_lost_;
  Counter& disconnected_;

  std::mutex mutex_;  ///< guards the maps and the set, and members of LockSeries
  std::set<std::string> lock_labels_;
  std::map<Key, LockSeries> locks_;
  std::map<Key, WaitSeries> waiters_;
  std::map<Key, UpdateSeries> values_;
};

}  // namespace custodian
