#pragma once

/// \file
/// Observer receives a client's events as they happen: for metrics and traces.
///
///     struct Waits : custodian::Observer {
///       void on_acquire_ended(const custodian::AcquireEnded& event) override {
///         std::cout << event.path << ": " << to_string(event.outcome) << '\n';
///       }
///     };
///     custodian::Client client{{.servers = "zk1:2181", .observer = std::make_shared<Waits>()}};
///
/// When not to use it: to decide anything. Events show the past; a holder asks its lease. For
/// Prometheus there is an adapter, custodian/prometheus/prometheus_observer.hpp.
///
/// Threads: an observer is called like a log sink, on the client's callback executor, one event at
/// a time and in order. An observer of several clients may be called for them at the same time. It
/// must be quick, for losses and log lines are reported there, too, and events wait in memory
/// meanwhile; but it cannot cost the session. It must not block, nor own the client.
///
/// Exceptions: an observer's exception is caught there, and does not affect locks. The first time
/// the log says so.
///
/// Lifetimes: kept by the client, until that and its last lease are gone. So it may be called when
/// the client's destructor has returned: for a lease that outlives it, and for events on their way.
/// Events on their way when the callback executor's context ends are dropped. In a forked child
/// there are none.
///
/// Without an observer nothing of this costs anything: no clock is read and nothing allocated.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/connection_state.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/session/session.hpp"

namespace custodian {

/// The outcome of an acquire.
enum class AcquireOutcome : std::uint8_t {
  acquired,   ///< with a lease, or several
  late,       ///< it stood in the queue, and its deadline came first
  declined,   ///< it only tried, and another contender was in the way
  cancelled,  ///< by its caller (operation_aborted), or by the client's end (closed)
  failed,     ///< see the error; deadline_exceeded: it never entered the queue
};
/// The enumerator's name.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(AcquireOutcome outcome) noexcept;

/// An acquire has ended, from its call on: one for several permits is one, with several leases; one
/// that queued again with another session is one. A call that was refused at once (a mistake in its
/// arguments, a client that is closed) is none, nor is re-entry, or another lease on an existing
/// hold.
struct AcquireEnded {
  std::string_view recipe;          ///< as Observer says
  std::string_view path;            ///< that the lock was made with
  AcquireOutcome outcome;           ///< its outcome
  error_code error;                 ///< set if cancelled or failed
  std::chrono::nanoseconds waited;  ///< since its call
  std::size_t leases;               ///< 0 unless acquired
};

/// A lock is held from now on. Reported before the end of its acquire; perhaps without one that
/// says `acquired`: a lease that came too late for its caller is released at once. With
/// HandOff::cohort each holder has a lease of its own.
struct LeaseBegun {
  std::string_view recipe;  ///< as Observer says
  std::string_view path;    ///< that the lock was made with
  FencingToken token;       ///< the lease's
};

/// A lease is lost: once, when that is known, and never after its release.
struct LeaseLost {
  std::string_view recipe;            ///< as Observer says
  std::string_view path;              ///< that the lock was made with
  FencingToken token;                 ///< the lease's
  LossReason reason;                  ///< held_too_long: it had come to its `hold_at_most`
  std::chrono::nanoseconds held_for;  ///< until now
};

/// Its holder has released a lease: the last event of each that has begun.
struct LeaseReleased {
  std::string_view recipe;            ///< as Observer says
  std::string_view path;              ///< that the lock was made with
  FencingToken token;                 ///< the lease's
  LossReason loss;                    ///< none, unless it was lost before that
  std::chrono::nanoseconds held_for;  ///< until now, lost or not
};

/// A request of the client has failed, or its reply was lost, and it will be sent again.
struct OperationRetried {
  std::string_view operation;  ///< as Client's function is called: "create", "get", "commit", ...
  std::string_view path;       ///< its node's; empty for a commit
  error_code error;            ///< of the newest try
  /// How often it has been tried so far. A create whose reply was lost is begun anew, with a count
  /// of its own.
  int attempts;
  /// Until the next time, if its deadline does not come first. Zero: at once, or as soon as there
  /// is a connection.
  std::chrono::milliseconds pause;
};

/// The state of the client's connection has changed.
struct ConnectionChanged {
  ConnectionState state;  ///< from now on
  /// For how long there has been no connection: of `connected` and `reconnected` how long it took
  /// to have one (again), of `lost` how long there has been none so far. Zero if there was one
  /// until now.
  std::chrono::nanoseconds away;
};

/// Receives a client's events; see the file's comment, custodian/observer.hpp, for threads,
/// exceptions and lifetimes. Override what you want to know. An event's string_views are valid
/// until the call returns. Times are of the boot clock.
///
/// `recipe` is the lock's type: "InterProcessMutex", "InterProcessReadWriteLock::read" and
/// "::write", "InterProcessSemaphore", "InterProcessSemaphoreMutex", "StripedMutex", "LeaderLatch",
/// "LeaderSelector"; of another author's recipe its own name. So
///
/// - with_lock() is reported as the lock that it takes;
/// - a lock that consists of others (InterProcessMultiLock, QuorumLock) is reported as these, to
///   the observers of their clients;
/// - an acquire of any stripe is the StripedMutex's; a stripe by itself is an InterProcessMutex at
///   its own path;
/// - of a leader the acquire is its standing for election, and the lease its leadership.
class CUSTODIAN_EXPORT Observer {
 public:
  /// Made by derived classes.
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// An acquire has ended, with or without a lease.
  virtual void on_acquire_ended(const AcquireEnded& /*event*/) {}
  /// A lock is held from now on.
  virtual void on_lease_begun(const LeaseBegun& /*event*/) {}
  /// A lease is lost; its release follows.
  virtual void on_lease_lost(const LeaseLost& /*event*/) {}
  /// A lease is released, lost or not.
  virtual void on_lease_released(const LeaseReleased& /*event*/) {}
  /// A request will be sent again.
  virtual void on_operation_retried(const OperationRetried& /*event*/) {}
  /// There is a connection, or none any more, or the session is over.
  virtual void on_connection_changed(const ConnectionChanged& /*event*/) {}
};

}  // namespace custodian
