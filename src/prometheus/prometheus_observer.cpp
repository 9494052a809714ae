#include "custodian/prometheus/prometheus_observer.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "metric_labels.hpp"

namespace custodian {

using prometheus_detail::all_connection_states;
using prometheus_detail::all_kept_lock_ends;
using prometheus_detail::all_loss_reasons;
using prometheus_detail::all_outcomes;
using prometheus_detail::all_wait_outcomes;
using prometheus_detail::label_of;

namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>{time}.count();
}

void check_buckets(std::string_view name, const std::vector<double>& bounds) {
  if (std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) == bounds.end()) return;
  throw Error{Errc::invalid_argument, "PrometheusObserver", "",
              std::string{name} + ": each bound is above the one before it"};
}

std::shared_ptr<prometheus::Registry> checked(std::shared_ptr<prometheus::Registry> registry) {
  if (registry) return registry;
  throw Error{Errc::invalid_argument, "PrometheusObserver", "", "the registry is null"};
}

PrometheusOptions checked(PrometheusOptions options) {
  check_buckets("wait_buckets", options.wait_buckets);
  check_buckets("hold_buckets", options.hold_buckets);
  return options;
}

/// The series of one recipe's locks, with one value of the label `lock` if that label is used.
struct LockSeries {
  std::map<AcquireOutcome, prometheus::Counter*> acquires;
  prometheus::Histogram* waits;
  prometheus::Gauge* held;
  prometheus::Histogram* holds;
  std::map<LossReason, prometheus::Counter*> lost;
  prometheus::Counter* reuses;
  std::map<KeptLockEnd, prometheus::Counter*> kept_ends;
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

}  // namespace

class PrometheusMetrics {
 public:
  PrometheusMetrics(std::shared_ptr<prometheus::Registry> registry, PrometheusOptions options);

  [[nodiscard]] LockSeries& of_lock(std::string_view recipe, std::string_view path);
  [[nodiscard]] WaitSeries& of_wait(std::string_view recipe, std::string_view path);
  [[nodiscard]] UpdateSeries& of_value(std::string_view recipe, std::string_view path);
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
  /// The series of the recipe and the path. Those of a new key are made by `make`.
  template <typename Series>
  [[nodiscard]] Series& series_at(std::map<Key, Series>& all, std::string_view recipe,
                                  std::string_view path,
                                  Series (PrometheusMetrics::*make)(const Labels&) const);
  [[nodiscard]] LockSeries lock_series(const Labels& of_lock) const;
  [[nodiscard]] WaitSeries wait_series(const Labels& of_wait) const;
  [[nodiscard]] UpdateSeries update_series(const Labels& of_value) const;
  void set_state(ConnectionState now) const;

  const std::shared_ptr<prometheus::Registry> registry_;
  const PrometheusOptions options_;

  Family<Counter>& acquires_;
  Family<Histogram>& waits_;
  Family<Gauge>& held_;
  Family<Histogram>& holds_;
  Family<Counter>& lost_;
  Family<Counter>& reuses_;
  Family<Counter>& kept_ends_;
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

  std::mutex mutex_;  ///< guards the maps
  std::map<Key, LockSeries> locks_;
  std::map<Key, WaitSeries> waiters_;
  std::map<Key, UpdateSeries> values_;
};

PrometheusMetrics::PrometheusMetrics(std::shared_ptr<prometheus::Registry> registry,
                                     PrometheusOptions options)
    : registry_{checked(std::move(registry))},
      options_{checked(std::move(options))},
      acquires_{counter("custodian_acquires_total", "Acquires that have ended, by what with.")},
      waits_{histogram("custodian_acquire_wait_seconds",
                       "How long those have waited that came to a lease.")},
      held_{gauge("custodian_leases_held", "Leases that are neither lost nor released.")},
      holds_{histogram("custodian_hold_seconds", "How long leases were held.")},
      lost_{counter("custodian_leases_lost_total", "Leases that were lost before their release.")},
      reuses_{counter("custodian_lock_reuses_total",
                      "How often a kept lock was taken again, without the servers.")},
      kept_ends_{counter("custodian_kept_locks_ended_total", "Kept locks that were given back.")},
      ended_waits_{counter("custodian_waits_total", "Waits that have ended, by their outcome.")},
      wait_times_{histogram("custodian_wait_seconds", "How long waits took that have passed.")},
      updates_{counter("custodian_updates_total", "Updates of atomic values, by their outcome.")},
      tries_{counter("custodian_update_tries_total", "Tries of the updates that have written.")},
      promoted_{
          counter("custodian_updates_promoted_total", "Updates that have waited for their lock.")},
      update_times_{
          histogram("custodian_update_seconds", "How long updates took that have not failed.")},
      retries_{counter("custodian_retries_total", "Requests that were sent again.")},
      states_{gauge("custodian_connection_state", "1 for the state of the connection.")},
      reconnects_{counter("custodian_reconnects_total", "Sessions that went on after a break.")
                      .Add(labels({}))},
      sessions_lost_{
          counter("custodian_sessions_lost_total", "Sessions that have ended, with their locks.")
              .Add(labels({}))},
      disconnected_{counter("custodian_disconnected_seconds_total",
                            "How long there was no connection, up to the newest one.")
                        .Add(labels({}))} {
  set_state(ConnectionState::connecting);
}

prometheus::Family<prometheus::Counter>& PrometheusMetrics::counter(const std::string& name,
                                                                    const std::string& help) const {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_);
}

prometheus::Family<prometheus::Gauge>& PrometheusMetrics::gauge(const std::string& name,
                                                                const std::string& help) const {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
}

prometheus::Family<prometheus::Histogram>& PrometheusMetrics::histogram(
    const std::string& name, const std::string& help) const {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_);
}

prometheus::Labels PrometheusMetrics::labels(Labels others) const {
  if (!options_.client.empty()) others.emplace("client", options_.client);
  return others;
}

namespace {

/// The labels, and one more.
prometheus::Labels with(prometheus::Labels labels, const std::string& name,
                        std::string_view value) {
  labels.emplace(name, value);
  return labels;
}

}  // namespace

LockSeries PrometheusMetrics::lock_series(const Labels& of_lock) const {
  LockSeries series{.acquires = {},
                    .waits = &waits_.Add(of_lock, options_.wait_buckets),
                    .held = &held_.Add(of_lock),
                    .holds = &holds_.Add(of_lock, options_.hold_buckets),
                    .lost = {},
                    .reuses = &reuses_.Add(of_lock),
                    .kept_ends = {}};
  for (const AcquireOutcome each : all_outcomes) {
    series.acquires.emplace(each, &acquires_.Add(with(of_lock, "outcome", to_string(each))));
  }
  for (const LossReason each : all_loss_reasons) {
    series.lost.emplace(each, &lost_.Add(with(of_lock, "reason", label_of(each))));
  }
  for (const KeptLockEnd each : all_kept_lock_ends) {
    series.kept_ends.emplace(each, &kept_ends_.Add(with(of_lock, "reason", to_string(each))));
  }
  return series;
}

WaitSeries PrometheusMetrics::wait_series(const Labels& of_wait) const {
  WaitSeries series{.ended = {}, .waits = &wait_times_.Add(of_wait, options_.wait_buckets)};
  for (const WaitOutcome each : all_wait_outcomes) {
    series.ended.emplace(each, &ended_waits_.Add(with(of_wait, "outcome", to_string(each))));
  }
  return series;
}

UpdateSeries PrometheusMetrics::update_series(const Labels& of_value) const {
  return {.written = &updates_.Add(with(of_value, "outcome", "written")),
          .unchanged = &updates_.Add(with(of_value, "outcome", "unchanged")),
          .failed = &updates_.Add(with(of_value, "outcome", "failed")),
          .tries = &tries_.Add(of_value),
          .promoted = &promoted_.Add(of_value),
          .durations = &update_times_.Add(of_value, options_.wait_buckets)};
}

template <typename Series>
Series& PrometheusMetrics::series_at(std::map<Key, Series>& all, std::string_view recipe,
                                     std::string_view path,
                                     Series (PrometheusMetrics::*make)(const Labels&) const) {
  Key key{recipe, options_.lock_label ? options_.lock_label(path) : std::string{}};
  const std::lock_guard lock{mutex_};
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  Labels of_key = labels({{"recipe", key.first}});
  if (options_.lock_label) of_key.emplace("lock", key.second);
  Series series = (this->*make)(of_key);
  return all.emplace(std::move(key), std::move(series)).first->second;
}

LockSeries& PrometheusMetrics::of_lock(std::string_view recipe, std::string_view path) {
  return series_at(locks_, recipe, path, &PrometheusMetrics::lock_series);
}

WaitSeries& PrometheusMetrics::of_wait(std::string_view recipe, std::string_view path) {
  return series_at(waiters_, recipe, path, &PrometheusMetrics::wait_series);
}

UpdateSeries& PrometheusMetrics::of_value(std::string_view recipe, std::string_view path) {
  return series_at(values_, recipe, path, &PrometheusMetrics::update_series);
}

void PrometheusMetrics::on_retried(const OperationRetried& event) {
  Labels of_retry = labels({{"operation", std::string{event.operation}}});
  of_retry.emplace("error", label_of(event.error));
  retries_.Add(of_retry).Increment();
}

void PrometheusMetrics::on_connection(const ConnectionChanged& event) {
  set_state(event.state);
  if (event.state == ConnectionState::reconnected) reconnects_.Increment();
  if (event.state == ConnectionState::lost) sessions_lost_.Increment();
  if (is_connected(event.state)) disconnected_.Increment(seconds(event.away));
}

void PrometheusMetrics::set_state(ConnectionState now) const {
  for (const ConnectionState each : all_connection_states) {
    states_.Add(labels({{"state", std::string{to_string(each)}}})).Set(each == now ? 1 : 0);
  }
}

PrometheusObserver::PrometheusObserver(std::shared_ptr<prometheus::Registry> registry,
                                       PrometheusOptions options)
    : metrics_{std::make_unique<PrometheusMetrics>(std::move(registry), std::move(options))} {}

PrometheusObserver::~PrometheusObserver() = default;

void PrometheusObserver::on_acquire_ended(const AcquireEnded& event) {
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  series.acquires.at(event.outcome)->Increment();
  if (event.outcome == AcquireOutcome::acquired) series.waits->Observe(seconds(event.waited));
}

void PrometheusObserver::on_lease_begun(const LeaseBegun& event) {
  metrics_->of_lock(event.recipe, event.path).held->Increment();
}

void PrometheusObserver::on_lease_lost(const LeaseLost& event) {
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  series.held->Decrement();
  series.holds->Observe(seconds(event.held_for));
  series.lost.at(event.reason)->Increment();
}

void PrometheusObserver::on_lease_released(const LeaseReleased& event) {
  // on_lease_lost() has counted the end of a lost lease already.
  if (event.loss != LossReason::none) return;
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  series.held->Decrement();
  series.holds->Observe(seconds(event.held_for));
}

void PrometheusObserver::on_lock_reused(const LockReused& event) {
  metrics_->of_lock(event.recipe, event.path).reuses->Increment(static_cast<double>(event.times));
}

void PrometheusObserver::on_kept_lock_ended(const KeptLockEnded& event) {
  metrics_->of_lock(event.recipe, event.path).kept_ends.at(event.reason)->Increment();
}

void PrometheusObserver::on_wait_ended(const WaitEnded& event) {
  WaitSeries& series = metrics_->of_wait(event.recipe, event.path);
  series.ended.at(event.outcome)->Increment();
  if (event.outcome == WaitOutcome::passed) series.waits->Observe(seconds(event.waited));
}

void PrometheusObserver::on_update_ended(const UpdateEnded& event) {
  UpdateSeries& series = metrics_->of_value(event.recipe, event.path);
  if (event.promoted) series.promoted->Increment();
  if (event.error) return series.failed->Increment();
  (event.written ? series.written : series.unchanged)->Increment();
  if (event.written) series.tries->Increment(event.tries);
  series.durations->Observe(seconds(event.lasted));
}

void PrometheusObserver::on_operation_retried(const OperationRetried& event) {
  metrics_->on_retried(event);
}

void PrometheusObserver::on_connection_changed(const ConnectionChanged& event) {
  metrics_->on_connection(event);
}

}  // namespace custodian
