#pragma once

/// \file
/// HandOff decides which waiter gets a lock when its holder releases.

namespace custodian {

/// The policy by which a released lock goes to a waiter. strict() is the order of a fair lock. A
/// cohort() trades fairness between processes, within a bound, for speed: passing the lock on
/// within a process costs a wake-up of a thread; passing it on through the servers costs two writes
/// on their disks.
class HandOff {
 public:
  /// The lock goes to the oldest waiter of any process.
  [[nodiscard]] static constexpr HandOff strict() noexcept { return HandOff{0}; }

  /// The lock goes to the oldest waiter of *this client*, up to `max_local_handoffs` times; then to
  /// the oldest waiter of all clients. The order of this client's own waiters is kept. Lock objects
  /// take part in the same cohort if they have the same path and the same options. Another process
  /// waits for up to `max_local_handoffs` more holders at each place that the cohort has in the
  /// queue, four places at most. 64 is a good start: a much larger number gains little, since 64
  /// holders already share the cost of the servers.
  ///
  /// All of these holders share one node, with these consequences:
  /// - their fencing tokens differ in `FencingToken::grant` only: a resource must compare that,
  ///   too;
  /// - `Lease::check()` protects against other processes only: a late write of an earlier holder of
  ///   the same process may pass the check while the next holder has the lock;
  /// - other clients see one node in the queue for all of these holders, and up to four more while
  ///   there are waiters.
  ///
  /// The node is not passed on if it is lost, if the client's connection was lost while the node
  /// was held, if the lease is near its end, if a holder that listens (`Lease::make_revocable`) was
  /// asked to release, or if a writer also holds the read lock.
  ///
  /// Some acquires do not join the cohort, but queue by themselves, as with strict(): those that
  /// set options of their own (`on_position`, `on_requeued`, terms of the lease,
  /// RequeuePolicy::fail), tries without time to wait, and acquires of several locks
  /// (InterProcessMultiLock, QuorumLock, StripedMutex::acquire_any).
  ///
  /// When not to use it: where other processes must not wait longer than their turn; where `revoke`
  /// or `participants()` must distinguish the callers of one process.
  [[nodiscard]] static constexpr HandOff cohort(int max_local_handoffs) noexcept {
    return HandOff{max_local_handoffs};
  }

  /// How often a node may be passed on; 0 for strict().
  [[nodiscard]] constexpr int max_local_handoffs() const noexcept { return max_local_handoffs_; }

  /// Equal if max_local_handoffs() is equal.
  friend bool operator==(const HandOff&, const HandOff&) = default;

 private:
  explicit constexpr HandOff(int max_local_handoffs) noexcept
      : max_local_handoffs_{max_local_handoffs} {}

  int max_local_handoffs_;
};

}  // namespace custodian
