#pragma once

/// \file
/// LeaseGroup is several leases that are held as one: all of them, or enough of them.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian {

namespace recipes_detail {
class LossCounter;
using LossCounterPtr = std::shared_ptr<LossCounter>;
class HeldCustom;
/// A custom lock of a group, and how many of its leases were acquired before.
struct CustomShare {
  std::shared_ptr<HeldCustom> held;
  std::size_t leases_before;
};

[[nodiscard]] CUSTODIAN_EXPORT CorePtr core_of(const LossCounterPtr& loss,
                                               std::string_view operation);
CUSTODIAN_EXPORT void start_wait_group_lost(CorePtr core, CancellationPtr cancellation,
                                            LossCounterPtr loss, Handler<> handler);
}  // namespace recipes_detail

/// Leases that count as held together while at least `needed()` of them are: every one of an
/// InterProcessMultiLock's, a majority of a QuorumLock's. Ownership is this object. Move-only; an
/// empty one holds nothing.
///
/// Destroying it releases all leases, in the reverse of the order in which they were acquired, in
/// the background; if one of these releases fails, the others still happen. Neither that nor
/// release() blocks, except for a CustomLock's release, and neither throws. The remaining leases of
/// a lost group are kept until then: release it.
///
/// Fencing tokens and check() are those of the single leases: see leases(). Locks of different
/// ensembles have no token in common; QuorumLock says what to do.
///
/// Threads: different objects may be used by different threads at once; one object by one thread at
/// a time. Lifetimes: may outlive the lock object and the clients; closing a client loses its
/// leases.
class [[nodiscard]] CUSTODIAN_EXPORT LeaseGroup {
 public:
  /// Holds nothing.
  LeaseGroup() noexcept = default;
  /// A moved-from object is empty.
  LeaseGroup(LeaseGroup&& other) noexcept;
  /// Releases what it held before. A moved-from object is empty.
  LeaseGroup& operator=(LeaseGroup&& other) noexcept;
  ~LeaseGroup();

  /// Whether there is something to release; state() says whether it is lost.
  [[nodiscard]] explicit operator bool() const& noexcept { return needed_ > 0; }
  /// Not of a temporary, which would release the locks before the condition's body runs: give it a
  /// name, as in `if (auto result = both.try_acquire())`.
  explicit operator bool() const&& = delete;

  /// Releases all leases, the last one first; does nothing if empty. The group is empty afterwards.
  void release() noexcept;

  /// `held` while enough of the leases are; `suspended` while enough are held or suspended; `lost`
  /// otherwise, for ever. Reads the boot clock, and asks no server.
  [[nodiscard]] LeaseState state() const noexcept;
  /// How long enough of the leases would last from now on without another answer from the servers;
  /// zero if it is lost or empty.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// Stops as soon as too few of the leases are held; never after the group was released (except
  /// for a loss that is being reported at that moment), nor if it is empty. Callbacks on it run on
  /// the callback executor of the client whose lease was the one too many, as those of
  /// Lease::lost(), and must not keep it busy.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// Waits until the group is lost.
  /// Completes with: error; none when it is lost.
  /// Cancellation: total.
  /// Errors: operation_aborted, also when it is released first.
  /// Executor: the handler's, or the callback executor of the client of the first lock.
  template <typename Token>
  auto async_wait_lost(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_group_lost>(
        recipes_detail::core_of(loss_, "async_wait_lost"), std::forward<Token>(token), loss_);
  }

  /// In the order in which they were acquired: for their tokens, nodes and checks. Of a QuorumLock
  /// those that were acquired, which may be fewer than all; without custom locks, which have no
  /// lease. The span is good until the group is moved, released or destroyed.
  [[nodiscard]] std::span<const Lease> leases() const noexcept { return leases_; }
  /// How many leases, and custom locks, the group needs; 0 if empty.
  [[nodiscard]] std::size_t needed() const noexcept { return needed_; }

  /// Another group on the same holds, lost or not: the locks are released with the last of them.
  /// Empty if this one is.
  [[nodiscard]] LeaseGroup share() const;

  /// For authors of recipes. `home` is the client that waits are bound to; `needed` is 1 at the
  /// least, and no more than there are leases (or else Error, invalid_argument).
  LeaseGroup(const Client& home, std::vector<Lease> leases, std::size_t needed);
  /// For authors of recipes: the same with custom locks, in the order in which they were acquired.
  LeaseGroup(const Client& home, std::vector<Lease> leases,
             std::vector<recipes_detail::CustomShare> customs, std::size_t needed);

 private:
  std::vector<Lease> leases_;
  std::vector<recipes_detail::CustomShare> customs_;
  std::size_t needed_ = 0;
  recipes_detail::LossCounterPtr loss_;
};

/// The result of an acquire of several locks: the leases, or the obstacle.
struct [[nodiscard]] GroupAcquireResult {
  /// Empty if it came too late.
  LeaseGroup leases{};
  /// The contender that was in the way last, at the lock `path`. Empty if there are leases, or none
  /// was seen.
  std::optional<Participant> blocked_by{};
  /// The lock that was not acquired: of several, the one that decided. Empty if there are leases.
  std::string path{};
  /// Why there are no leases, of the lock `path`.
  NotAcquired reason = NotAcquired::none;

  /// As AcquireResult::explain(), with the lock's path.
  [[nodiscard]] std::string explain() const {
    return recipes_detail::explain(reason, blocked_by, path);
  }

  /// Whether there are leases.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(leases); }
  /// Not of a temporary, whose leases would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

}  // namespace custodian
