#pragma once

/// \file
/// HandOff decides which waiter gets a lock when its holder releases.

namespace custodian {

/// Strict is the order of a fair lock. A cohort trades fairness between processes, within a bound,
/// for speed: to pass the lock on within its process costs a wake-up of a thread, and through the
/// servers two writes on their disks.
class HandOff {
 public:
  /// The lock goes to the oldest waiter of any process.
  [[nodiscard]] static constexpr HandOff strict() noexcept { return HandOff{0}; }

  /// The lock goes to the oldest waiter of *this client*, up to `max_local_handoffs` times; then to
  /// the oldest waiter of all. The order inside the client is kept. Lock objects take part in the
  /// same cohort if they have the same path and the same options. Another process waits for up to
  /// `max_local_handoffs` more holders at each place that the cohort has in the queue; it has four
  /// places at most. 64 is a good start: a much larger number gains little, since 64 holders
  /// already share the cost of the servers.
  ///
  /// All of these holders share one node, hence:
  /// - fencing tokens differ in `FencingToken::grant` only: a resource must compare it, too;
  /// - `Lease::check()` protects against other processes only. A late write of an earlier holder of
  ///   the same process may pass it while the next holder has the lock;
  /// - the queue, as others see it, shows one node for all of them; and up to four more while there
  ///   are waiters.
  ///
  /// The node is not passed on if it is lost, if its connection was lost while it was held, or if
  /// its lease is near its end; nor if a holder that listens (`Lease::make_revocable`) was asked to
  /// release, or if a writer also holds the read lock.
  ///
  /// Some acquires stand in the queue by themselves, as with strict(): those that ask for more than
  /// the lock (their place in the queue, terms of their own, RequeuePolicy::fail), tries without
  /// time to wait, and acquires of several locks (InterProcessMultiLock, QuorumLock,
  /// StripedMutex::acquire_any).
  ///
  /// When not to use it: where other processes must not wait longer than their turn; where `revoke`
  /// or `participants()` must find one caller of many.
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
