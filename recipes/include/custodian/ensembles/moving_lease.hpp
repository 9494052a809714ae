#pragma once

/// \file
/// MovingLease owns a lock of a moving map, at whichever homes its path has.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/transaction.hpp"

namespace custodian {

namespace recipes_detail {
class MovingHold;
using MovingHoldPtr = std::shared_ptr<MovingHold>;
}  // namespace recipes_detail

/// Owns a lock that a MovingMutex has acquired. While the path moves, the lease acquires the lock
/// at the new home, too, in the background, and releases it at the old home when the move is over.
/// The owner of the lease does nothing for that. Move-only; an empty lease owns nothing.
///
/// Destroying a lease releases the lock, in the background. Neither the destructor nor release()
/// blocks or throws. A lost lease must be destroyed or released, too.
///
/// **Loss.** The lease is lost when the lock is lost at either home: at the new one as soon as it
/// was acquired there, at the old one until it was released there.
///
/// Threads: different objects may be used by different threads at once; one object by one thread at
/// a time. Lifetimes: a lease may outlive the mutex, the map and the clients; closing a client
/// loses the leases that have a home there.
class [[nodiscard]] CUSTODIAN_EXPORT MovingLease {
 public:
  /// An empty lease, which owns nothing.
  MovingLease() noexcept = default;
  /// A moved-from object is empty.
  MovingLease(MovingLease&& other) noexcept = default;
  /// Releases what this lease held before. A moved-from object is empty.
  MovingLease& operator=(MovingLease&& other) noexcept;
  ~MovingLease();

  /// Whether the lease is not empty. It may be lost: see state().
  [[nodiscard]] explicit operator bool() const& noexcept { return hold_ != nullptr; }
  /// Deleted for a temporary, which would release the lock before the condition's body runs: name
  /// the lease.
  explicit operator bool() const&& = delete;

  /// Releases the lock, at all its homes. The lease is empty afterwards. Does nothing if it is
  /// empty already.
  void release() noexcept;

  /// The state of the lease now, the worst of its homes'. Cheap, since no server is asked.
  [[nodiscard]] LeaseState state() const noexcept;
  /// How long the lease will last from now on without another answer from the servers; zero if it
  /// is lost or empty.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;
  /// A token whose stop is requested when the lease is lost, as with Lease::lost(), on the callback
  /// executor of the client of the home where the lock was lost.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// The fencing token of the holder, which stays the same while the path moves. Its `epoch` has
  /// the generation in which the path came to its home, in the upper half, and
  /// `ClientOptions::fencing_epoch` in the lower: compare all fields, as the operators do. An empty
  /// lease has a token of 0.
  [[nodiscard]] FencingToken token() const noexcept;
  /// The ensembles at which the lease has the lock now: the home of its path; while the path moves,
  /// the old home, and the new one as soon as the lock was acquired there.
  [[nodiscard]] std::vector<std::string> homes() const;
  /// An operation that lets a transaction at this ensemble fail unless the lock is held there, as
  /// Lease::check() does. The check says nothing about a holder at another home: keep the data that
  /// it guards at the path's home, and let the first holder of the lock at both homes copy them
  /// from the old one to the new one. Throws Error (lock_lost) if the lease is empty, or has no
  /// lock there.
  [[nodiscard]] TransactionOperation check(std::string_view ensemble) const;

  /// For authors of recipes.
  explicit MovingLease(recipes_detail::MovingHoldPtr hold) noexcept;

 private:
  recipes_detail::MovingHoldPtr hold_;
};

/// The result of an acquire of a MovingMutex with a limit: a lease, or the reason why there is
/// none.
struct [[nodiscard]] MovingAcquireResult {
  /// The lease on the lock. Empty if the lock was not acquired.
  MovingLease lease{};
  /// The nearest contender ahead, as last seen, at the home where the acquire has ended. Empty if
  /// there is a lease, or if no contender was seen.
  std::optional<Participant> blocked_by{};
  /// Why there is no lease.
  NotAcquired reason = NotAcquired::none;

  /// The reason as a sentence, as AcquireResult::explain() gives it.
  [[nodiscard]] std::string explain() const { return recipes_detail::explain(reason, blocked_by); }

  /// Whether there is a lease.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(lease); }
  /// Deleted for a temporary, whose lease would end with the condition: give it a name.
  explicit operator bool() const&& = delete;
};

}  // namespace custodian
