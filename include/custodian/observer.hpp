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
/// When not to use it: to decide whether a lock is held. Events show the past; a holder asks its
/// lease. For Prometheus there is an adapter, custodian/prometheus/prometheus_observer.hpp.
///
/// Threads: an observer is called like a log sink, on the client's callback executor, one event at
/// a time and in order. An observer of several clients may be called for several of them at the
/// same time. An observer must be quick: while it runs, losses and log lines wait for the same
/// executor, and further events wait in memory. A slow observer cannot cost the session. An
/// observer must neither block nor own the client.
///
/// Exceptions: an observer's exception is caught, and does not affect locks. The log reports the
/// first one.
///
/// Lifetimes: the client keeps the observer until the client and its last lease are gone. So the
/// observer may be called after the client's destructor has returned: for a lease that outlives the
/// client, and for events that wait for the callback executor. When that executor's context ends,
/// waiting events are dropped. In a forked child, there are no events.
///
/// A client without an observer pays nothing: no clock is read and nothing is allocated.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/clock.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/session/session.hpp"

namespace custodian {

/// The outcome of an acquire.
enum class AcquireOutcome : std::uint8_t {
  acquired,   ///< the acquire was granted a lease, or several
  late,       ///< the acquire was in the queue when its deadline passed
  declined,   ///< the acquire was a try without waiting, and another contender was in the way
  cancelled,  ///< the caller cancelled it (operation_aborted), or the client was closed (closed)
  failed,     ///< see the error; deadline_exceeded: the acquire never entered the queue
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(AcquireOutcome outcome) noexcept;

/// An acquire has begun, and waits until its AcquireEnded. The two are always a pair:
///
/// - Every acquire that has passed its checks begins, before it sends a request. That includes a
///   try without waiting, an acquire that gets its lock at once, an acquire that waits behind
///   contenders of its own client, and an acquire that waits for a node which other acquires of its
///   client share or keep.
/// - An acquire of several permits, an acquire of any stripe, and an acquire that queues again with
///   another session begin once and end once. A lock that consists of other locks begins an acquire
///   of each member when the member's turn has come.
/// - There are no events, neither of a begin nor of an end, for a call that was refused at once (a
///   mistake in its arguments, a closed client), for a re-entry, for another lease on an existing
///   hold, or for a hold that LockReused counts.
/// - Every other acquire ends: with a lease, without one, or with its client. An acquire whose
///   execution context is destroyed is reported as cancelled, with the error `closed`, if the
///   callback executor is still there to report it.
///
/// In the events of one client, the begin comes before the end, and before the LeaseBegun of its
/// leases. The end has the same `recipe`, `path` and `began`. Two acquires of one lock may have
/// begun at the same time; then it does not matter which of the ends belongs to which begin.
struct AcquireBegun {
  std::string_view recipe;      ///< the lock's type; see Observer
  std::string_view path;        ///< the path that the lock was made with
  BootClock::time_point began;  ///< the time of the call, by the client's clock
};

/// An acquire has ended. AcquireBegun says which acquires are reported, and how. An acquire of
/// several permits is reported by one event, with several leases.
struct AcquireEnded {
  std::string_view recipe;          ///< the lock's type; see Observer
  std::string_view path;            ///< the path that the lock was made with
  AcquireOutcome outcome;           ///< the outcome of the acquire
  error_code error;                 ///< the reason, if the outcome is cancelled or failed
  std::chrono::nanoseconds waited;  ///< the time since the call
  std::size_t leases;               ///< how many leases were granted; 0 unless acquired
  BootClock::time_point began{};    ///< as in the AcquireBegun of the acquire
};

/// A lock is held from now on. The event comes before the AcquireEnded of the acquire, whose
/// outcome need not be `acquired`: a lease that is granted too late for its caller is released at
/// once. With HandOff::cohort, each holder has a lease of its own.
struct LeaseBegun {
  std::string_view recipe;  ///< the lock's type; see Observer
  std::string_view path;    ///< the path that the lock was made with
  FencingToken token;       ///< the fencing token of the lease
};

/// A lease is lost. Reported once, when the loss is known, and never after the release of the
/// lease.
struct LeaseLost {
  std::string_view recipe;            ///< the lock's type; see Observer
  std::string_view path;              ///< the path that the lock was made with
  FencingToken token;                 ///< the fencing token of the lease
  LossReason reason;                  ///< why the lease is lost
  std::chrono::nanoseconds held_for;  ///< how long the lease was held until now
};

/// A holder has released its lease. This is the last event of every lease that has begun.
struct LeaseReleased {
  std::string_view recipe;            ///< the lock's type; see Observer
  std::string_view path;              ///< the path that the lock was made with
  FencingToken token;                 ///< the fencing token of the lease
  LossReason loss;                    ///< why the lease was lost before; none if it was not
  std::chrono::nanoseconds held_for;  ///< how long ago the lease began, lost or not
};

/// Why a kept lock (`LockOptions::keep_idle_for`) was given back.
enum class KeptLockEnd : std::uint8_t {
  wanted,         ///< another contender has come, or another client has deleted the lock's node
  own_contender,  ///< an acquire of this client has come that cannot use the kept lock
  unused,         ///< the lock was not used for `keep_idle_for`
  aged,           ///< the lock was kept for a minute, the longest time
  crowded,        ///< the client keeps as many as it may (`ClientOptions::max_kept_locks`)
  /// The connection or the session was lost, the lease was near its end, another client has asked
  /// for the lock, the holder has changed its identity or acquired the read lock besides, or
  /// Client::release_kept_locks() was called.
  unusable,
  closed,  ///< the client closes
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(KeptLockEnd reason) noexcept;

/// A kept lock was taken again, or readers have joined a node that another reader of their client
/// holds (`LockOptions::share_readers`), each time without a request to the servers. `times` counts
/// these holds since the last such event. They are reported in sums only, four times in
/// `keep_idle_for` and when the node is given back: such a hold has no AcquireEnded, and has a
/// LeaseBegun and a LeaseReleased only if it is lost.
struct LockReused {
  std::string_view recipe;  ///< the lock's type; see Observer
  std::string_view path;    ///< the path that the lock was made with
  FencingToken token;       ///< the fencing token of the node's first holder
  std::uint64_t times;      ///< how many holds since the last event
};

/// A kept lock was given back. Reported once for each node that was kept, after the last
/// LockReused.
struct KeptLockEnded {
  std::string_view recipe;  ///< the lock's type; see Observer
  std::string_view path;    ///< the path that the lock was made with
  FencingToken token;       ///< the fencing token of the node's first holder
  KeptLockEnd reason;       ///< the first reason, if there are several
};

/// The outcome of a wait for other processes.
enum class WaitOutcome : std::uint8_t {
  passed,     ///< what was waited for has happened
  late,       ///< the deadline has passed; or the wait had no time, and was declined
  spurious,   ///< at an InterProcessCondition: the lock is held again, without a signal
  cancelled,  ///< the caller cancelled or stopped the wait, or the client was closed
  failed,     ///< see the error
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(WaitOutcome outcome) noexcept;

/// A wait for other processes has ended: at a barrier, a latch or a condition, or for the permits
/// of a RateLimiter.
struct WaitEnded {
  /// The recipe's type: "DistributedBarrier", "CountDownLatch", "DistributedDoubleBarrier::enter"
  /// and "::leave", "InterProcessBarrier", "InterProcessCondition", "RateLimiter".
  std::string_view recipe;
  std::string_view path;            ///< the path that the recipe was made with
  WaitOutcome outcome;              ///< the outcome of the wait
  error_code error;                 ///< the reason, if the outcome is cancelled or failed
  std::chrono::nanoseconds waited;  ///< the time since the call
};

/// An update of an atomic value has ended: of a DistributedAtomicLong, a DistributedAtomicInteger
/// or a DistributedAtomicValue, also by a CachedAtomicLong that fetches numbers. There is no event
/// for a load, an initialize, or a store that is left to its caller (Settle::left_to_caller): these
/// try once.
struct UpdateEnded {
  std::string_view recipe;  ///< the value's type: "DistributedAtomicLong" and so on
  std::string_view path;    ///< the path that the value was made with
  error_code error;         ///< the reason, if the update has failed
  bool written;             ///< whether the update has written; false if it changed nothing
  /// How often the update was tried: all tries but the last were overtaken by other clients.
  /// Updates that share a write have the same tries. 0 if the update has failed, or has not
  /// written.
  int tries;
  bool promoted;                    ///< whether the update waited for the lock (PromotedToLock)
  std::chrono::nanoseconds lasted;  ///< the time since the call
};

/// A request of the client has failed, or its reply was lost, and it will be sent again.
struct OperationRetried {
  std::string_view operation;  ///< the name of Client's function: "create", "get", "commit", ...
  std::string_view path;       ///< the path of the request's node; empty for a commit
  error_code error;            ///< the error of the newest try
  /// How often the request has been tried so far. A create whose reply was lost is begun anew, and
  /// its tries are counted from the start.
  int attempts;
  /// The pause before the next try, unless the deadline passes first. Zero: the next try comes at
  /// once, or as soon as there is a connection.
  std::chrono::milliseconds pause;
};

/// The state of the client's connection has changed.
struct ConnectionChanged {
  ConnectionState state;  ///< the state from now on
  /// How long there has been no connection. For `connected` and `reconnected`: how long it took to
  /// get one. For `lost`: how long there has been none so far. Zero if there was a connection until
  /// now.
  std::chrono::nanoseconds away;
};

/// Receives a client's events. Override the functions of the events that you need. An event's
/// string_views are valid until the call returns. Times are measured by the boot clock. For
/// threads, exceptions and lifetimes, see the description of custodian/observer.hpp.
///
/// `recipe` is the lock's type: "InterProcessMutex", "InterProcessReadWriteLock::read" and
/// "::write", "InterProcessSemaphore", "InterProcessSemaphoreMutex", "StripedMutex", "LeaderLatch",
/// "LeaderSelector"; a recipe of another author has its own name. So
///
/// - with_lock() is reported as the lock that it takes;
/// - a lock that consists of other locks (InterProcessMultiLock, QuorumLock) is reported as those
///   locks, to the observers of their clients;
/// - an acquire of any stripe is reported as the StripedMutex; a stripe by itself is reported as an
///   InterProcessMutex at the stripe's path;
/// - for a leader, the acquire is its candidacy, and the lease is its leadership.
class CUSTODIAN_EXPORT Observer {
 public:
  /// Made by derived classes.
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// An acquire has begun; its end follows.
  virtual void on_acquire_begun(const AcquireBegun& /*event*/) {}
  /// An acquire has ended, with or without a lease.
  virtual void on_acquire_ended(const AcquireEnded& /*event*/) {}
  /// A lock is held from now on.
  virtual void on_lease_begun(const LeaseBegun& /*event*/) {}
  /// A lease is lost; its release follows.
  virtual void on_lease_lost(const LeaseLost& /*event*/) {}
  /// A lease is released, lost or not.
  virtual void on_lease_released(const LeaseReleased& /*event*/) {}
  /// A kept lock was taken again, or a reader's node was joined, once or several times.
  virtual void on_lock_reused(const LockReused& /*event*/) {}
  /// A kept lock was given back.
  virtual void on_kept_lock_ended(const KeptLockEnded& /*event*/) {}
  /// A wait for other processes has ended.
  virtual void on_wait_ended(const WaitEnded& /*event*/) {}
  /// An update of an atomic value has ended.
  virtual void on_update_ended(const UpdateEnded& /*event*/) {}
  /// A request will be sent again.
  virtual void on_operation_retried(const OperationRetried& /*event*/) {}
  /// The client has got or lost its connection, or the session is over.
  virtual void on_connection_changed(const ConnectionChanged& /*event*/) {}
};

}  // namespace custodian
