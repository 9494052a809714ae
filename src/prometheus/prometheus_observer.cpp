#include "custodian/prometheus/prometheus_observer.hpp"

#include <utility>

#include "prometheus_metrics.hpp"

namespace custodian {

using prometheus_detail::LockSeries;
using prometheus_detail::seconds;
using prometheus_detail::UpdateSeries;
using prometheus_detail::WaitSeries;

PrometheusObserver::PrometheusObserver(std::shared_ptr<prometheus::Registry> registry,
                                       PrometheusOptions options)
    : metrics_{std::make_unique<PrometheusMetrics>(std::move(registry), std::move(options))} {}

PrometheusObserver::~PrometheusObserver() = default;

void PrometheusObserver::on_acquire_begun(const AcquireBegun& event) {
  metrics_->on_acquire_begun(event);
}

void PrometheusObserver::on_acquire_ended(const AcquireEnded& event) {
  metrics_->on_acquire_ended(event);
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  series.acquires.at(event.outcome)->Increment();
  if (event.outcome == AcquireOutcome::acquired) series.waits->Observe(seconds(event.waited));
}

void PrometheusObserver::on_lease_begun(const LeaseBegun& event) {
  metrics_->on_held(metrics_->of_lock(event.recipe, event.path), 1);
}

void PrometheusObserver::on_lease_lost(const LeaseLost& event) {
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  metrics_->on_held(series, -1);
  series.holds->Observe(seconds(event.held_for));
  series.lost.at(event.reason)->Increment();
}

void PrometheusObserver::on_lease_released(const LeaseReleased& event) {
  // on_lease_lost() has counted the end of a lost lease already.
  if (event.loss != LossReason::none) return;
  LockSeries& series = metrics_->of_lock(event.recipe, event.path);
  metrics_->on_held(series, -1);
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
