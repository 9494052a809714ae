#pragma once

/// \file
/// HandOff decides which waiter gets a lock when its holder releases.

namespace custodian {

/// Strict is the order of a fair lock. A cohort trades fairness between processes, within a bound,
/// for speed: a lock that stays in its process costs a wake-up of a thread, and one that passes
/// through the servers two writes on their disks.
class HandOff {
 public:
  /// To the oldest waiter, of any process.
  [[nodiscard]] static constexpr HandOff strict() noexcept { return HandOff{0}; }

  /// To the oldest waiter for *this lock object*, up to `passes` times; then to the oldest of all.
  /// So the order inside the process is kept, and another process waits for `passes` holders more
  /// at each place in the queue; a lock object has four places there at most. 64 is a good start:
  /// many more gain little, for 64 holders share the cost of the servers already.
  ///
  /// All of these holders share one node, hence:
  /// - fencing tokens differ in `FencingToken::grant` only: a resource must compare it, too;
  /// - `Lease::check()` protects against other processes only. A write of an earlier holder of the
  ///   same process, late, may pass it while the next one holds the lock;
  /// - the queue, as others see it, shows one node for all of them; and up to four more while there
  ///   are waiters.
  ///
  /// The node is not passed on if it is lost, or its connection is, or its lease is near its end;
  /// nor when a holder that listens (`Lease::make_revocable`) was asked to release it, or a writer
  /// has taken the read lock besides.
  ///
  /// An acquire that asks for more than the lock (a place in the queue, terms of its own,
  /// RequeuePolicy::fail), a try without time to wait, and those that belong to several locks
  /// (InterProcessMultiLock, QuorumLock, StripedMutex::acquire_any), or to none that lasts
  /// (with_lock), stand in the queue by themselves, as with strict().
  ///
  /// When not to use it: where other processes must not wait longer than their turn; with `revoke`
  /// or `participants()` as a means to find one caller of many.
  [[nodiscard]] static constexpr HandOff cohort(int max_local_handoffs) noexcept {
    return HandOff{max_local_handoffs};
  }

  /// How often a node may be passed on; 0 if strict.
  [[nodiscard]] constexpr int max_local_handoffs() const noexcept { return max_local_handoffs_; }

  /// The same number of passes.
  friend bool operator==(const HandOff&, const HandOff&) = default;

 private:
  explicit constexpr HandOff(int max_local_handoffs) noexcept
      : max_local_handoffs_{max_local_handoffs} {}

  int max_local_handoffs_;
};

}  // namespace custodian
