#pragma once

/// \file
/// PrometheusObserver makes a client's metrics for Prometheus, with the library prometheus-cpp
/// (target `custodian::prometheus`).
///
///     auto registry = std::make_shared<prometheus::Registry>();
///     custodian::Client client{
///         {.servers = "zk1:2181",
///          .observer = std::make_shared<custodian::PrometheusObserver>(registry)}};
///     prometheus::Exposer exposer{"127.0.0.1:9464"};
///     exposer.RegisterCollectable(registry);
///
///     custodian_acquires_total              recipe, outcome: acquired, late, declined, cancelled,
///                                           failed
///     custodian_acquires_waiting            recipe; a gauge: begun and not ended; of a leader the
///                                           candidacies
///     custodian_oldest_acquire_timestamp_seconds  recipe; a gauge: when the oldest of those began,
///                                           in Unix time; 0 if there is none
///     custodian_acquire_wait_seconds        recipe; a histogram, of acquires that got a lease
///     custodian_leases_held                 recipe; a gauge: neither lost nor released
///     custodian_hold_seconds                recipe; a histogram, up to the loss or the release
///     custodian_leases_lost_total           recipe, reason: as LossReason's names
///     custodian_lock_reuses_total           recipe: a kept lock was taken again; such holds are
///                                           in no other series
///     custodian_kept_locks_ended_total      recipe, reason: as KeptLockEnd's names
///     custodian_leader                      recipe: LeaderLatch, LeaderSelector; a gauge: 1 while
///                                           the process leads an election of the series, else 0
///     custodian_waits_total                 recipe, outcome: passed, late, spurious, cancelled,
///                                           failed; at barriers, latches, conditions
///     custodian_wait_seconds                recipe; a histogram, of waits that have passed
///     custodian_updates_total               recipe, outcome: written, unchanged, failed
///     custodian_update_tries_total          recipe; more than written updates: other clients were
///                                           quicker. Updates that share a write count its tries
///                                           once each
///     custodian_updates_promoted_total      recipe; updates that have waited for their lock
///     custodian_update_seconds              recipe; a histogram, of updates that have not failed
///     custodian_retries_total               operation, error: as Client's functions, and the names
///                                           of Errc and ServerErrc
///     custodian_connection_state            state: as ConnectionState's names; a gauge, 1 for the
///                                           present state, else 0
///     custodian_reconnects_total            the same session went on
///     custodian_sessions_lost_total
///     custodian_disconnected_seconds_total  grows when there is a connection again
///
/// The events in observer.hpp define exactly what is counted. A recipe's series appear with its
/// first event, and begin at 0.
///
/// Threads: any. Lifetimes: an observer keeps the registry; its series stay in the registry.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/observer.hpp"

namespace prometheus {
class Registry;
}

namespace custodian {

class PrometheusMetrics;

/// The options of a PrometheusObserver.
struct PrometheusOptions {
  /// The value of the label `client` of all series. Clients that share a registry need an observer
  /// each, with a label each; otherwise their connections would count as one. If the value is
  /// empty, there is no such label.
  std::string client{};

  /// Returns the value of the label `lock` for the series of a lock, or of another recipe, from its
  /// path. Each value of the label makes some forty series, which stay for good, here and in the
  /// Prometheus server. So use whole paths as labels only if there are few paths. Cut off the parts
  /// that differ from one customer, order or stripe to the next. If no function is given, there is
  /// no such label, and all locks of a recipe are counted together. The function must return the
  /// same value for a path each time.
  std::function<std::string(std::string_view path)> lock_label{};

  /// How many values of the label `lock` the observer uses, those that come first. All other locks
  /// share the value `other`.
  std::size_t max_lock_labels = 200;

  /// The upper bounds of the buckets of custodian_acquire_wait_seconds, custodian_wait_seconds and
  /// custodian_update_seconds, in seconds, in ascending order.
  std::vector<double> wait_buckets{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1800};
  /// The upper bounds of the buckets of custodian_hold_seconds, likewise.
  std::vector<double> hold_buckets{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1800};
};

/// Counts what a client does, in series of a registry of prometheus-cpp. The comment of the file
/// custodian/prometheus/prometheus_observer.hpp lists the series.
class CUSTODIAN_EXPORT PrometheusObserver final : public Observer {
 public:
  /// Throws Error (invalid_argument) if the registry is null, or bounds are not in ascending order;
  /// std::invalid_argument if the registry has a metric with one of these names and another type.
  explicit PrometheusObserver(std::shared_ptr<prometheus::Registry> registry,
                              PrometheusOptions options = {});
  ~PrometheusObserver() override;

  void on_acquire_begun(const AcquireBegun& event) override;
  void on_acquire_ended(const AcquireEnded& event) override;
  void on_lease_begun(const LeaseBegun& event) override;
  void on_lease_lost(const LeaseLost& event) override;
  void on_lease_released(const LeaseReleased& event) override;
  void on_lock_reused(const LockReused& event) override;
  void on_kept_lock_ended(const KeptLockEnded& event) override;
  void on_wait_ended(const WaitEnded& event) override;
  void on_update_ended(const UpdateEnded& event) override;
  void on_operation_retried(const OperationRetried& event) override;
  void on_connection_changed(const ConnectionChanged& event) override;

 private:
  const std::unique_ptr<PrometheusMetrics> metrics_;
};

}  // namespace custodian
