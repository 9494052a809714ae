#include "prometheus_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "metric_labels.hpp"

namespace custodian {

using prometheus_detail::all_connection_states;
using prometheus_detail::all_kept_lock_ends;
using prometheus_detail::all_loss_reasons;
using prometheus_detail::all_outcomes;
using prometheus_detail::all_wait_outcomes;
using prometheus_detail::label_of;
using prometheus_detail::LockSeries;
using prometheus_detail::seconds;
using prometheus_detail::UpdateSeries;
using prometheus_detail::WaitSeries;

namespace {

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

}  // namespace

PrometheusMetrics::PrometheusMetrics(std::shared_ptr<prometheus::Registry> registry,
                                     PrometheusOptions options)
    : registry_{checked(std::move(registry))},
      options_{checked(std::move(options))},
      acquires_{counter("custodian_acquires_total", "Acquires that have ended, by what with.")},
      waiting_{gauge("custodian_acquires_waiting", "Acquires that have begun and not ended.")},
      oldest_{gauge("custodian_oldest_acquire_timestamp_seconds",
                    "When the oldest of them began, in Unix time; 0 if there is none.")},
      waits_{histogram("custodian_acquire_wait_seconds",
                       "How long those have waited that came to a lease.")},
      held_{gauge("custodian_leases_held", "Leases that are neither lost nor released.")},
      holds_{histogram("custodian_hold_seconds", "How long leases were held.")},
      lost_{counter("custodian_leases_lost_total", "Leases that were lost before their release.")},
      reuses_{counter("custodian_lock_reuses_total",
                      "How often a kept lock was taken again, without the servers.")},
      kept_ends_{counter("custodian_kept_locks_ended_total", "Kept locks that were given back.")},
      leaders_{gauge("custodian_leader", "1 while this process leads, else 0.")},
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

/// Whether the leases of this recipe are leaderships.
bool is_election(std::string_view recipe) {
  return recipe == "LeaderLatch" || recipe == "LeaderSelector";
}

/// The labels, and one more.
prometheus::Labels with(prometheus::Labels labels, const std::string& name,
                        std::string_view value) {
  labels.emplace(name, value);
  return labels;
}

}  // namespace

LockSeries PrometheusMetrics::lock_series(const Labels& of_lock) const {
  LockSeries series{.acquires = {},
                    .waiting = &waiting_.Add(of_lock),
                    .oldest = &oldest_.Add(of_lock),
                    .waits = &waits_.Add(of_lock, options_.wait_buckets),
                    .held = &held_.Add(of_lock),
                    .holds = &holds_.Add(of_lock, options_.hold_buckets),
                    .lost = {},
                    .reuses = &reuses_.Add(of_lock),
                    .kept_ends = {},
                    .leader = nullptr};
  if (is_election(of_lock.at("recipe"))) series.leader = &leaders_.Add(of_lock);
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

std::string PrometheusMetrics::bounded(std::string label) {
  if (lock_labels_.contains(label)) return label;
  if (lock_labels_.size() >= options_.max_lock_labels) return "other";
  lock_labels_.insert(label);
  return label;
}

template <typename Series>
Series& PrometheusMetrics::series_at(std::map<Key, Series>& all, std::string_view recipe,
                                     std::string_view path,
                                     Series (PrometheusMetrics::*make)(const Labels&) const) {
  Key key{recipe, options_.lock_label ? options_.lock_label(path) : std::string{}};
  const std::lock_guard lock{mutex_};
  if (options_.lock_label) key.second = bounded(std::move(key.second));
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

// -- What is so now -------------------------------------------------------------------------------

void PrometheusMetrics::on_acquire_begun(const AcquireBegun& event) {
  LockSeries& series = of_lock(event.recipe, event.path);
  const std::lock_guard lock{mutex_};
  series.now_waiting.begin(event.began, std::chrono::system_clock::now());
  show_waiting(series);
}

void PrometheusMetrics::on_acquire_ended(const AcquireEnded& event) {
  LockSeries& series = of_lock(event.recipe, event.path);
  const std::lock_guard lock{mutex_};
  if (series.now_waiting.end(event.began)) show_waiting(series);
}

void PrometheusMetrics::show_waiting(const LockSeries& series) {
  series.waiting->Set(static_cast<double>(series.now_waiting.size()));
  const auto oldest = series.now_waiting.oldest();
  series.oldest->Set(oldest ? seconds(oldest->time_since_epoch()) : 0);
}

void PrometheusMetrics::on_held(LockSeries& series, int change) {
  series.held->Increment(change);
  if (series.leader == nullptr) return;
  const std::lock_guard lock{mutex_};
  series.now_held += change;
  series.leader->Set(series.now_held > 0 ? 1 : 0);
}

// -- The client itself ----------------------------------------------------------------------------

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

}  // namespace custodian
