#pragma once

/// \file
/// LeaseGroup is several leases that are held as one, for as long as all of them, or enough of
/// them, are held.

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
/// A custom lock of a group, and how many leases of the group were acquired before it.
struct CustomShare {
  std::shared_ptr<HeldCustom> held;
  std::size_t leases_before;
};

[[nodiscard]] CUSTODIAN_EXPORT CorePtr core_of(const LossCounterPtr& loss,
                                               std::string_view operation);
CUSTODIAN_EXPORT void start_wait_group_lost(CorePtr core, CancellationPtr cancellation,
                                            LossCounterPtr loss, Handler<> handler);
}  // namespace recipes_detail

/// Owns leases that count as held together while at least `needed()` of them are held: all leases
/// of an InterProcessMultiLock, a majority of those of a QuorumLock. Move-only; an empty group owns
/// nothing.
///
/// Destroying a group releases all its leases, in the background, in the reverse of the order in
/// which they were acquired; if one of these releases fails, the others still happen. Neither the
/// destructor nor release() blocks, except for a CustomLock's release, and neither throws. A lost
/// group keeps its remaining leases until it is released: release it.
///
/// Fencing tokens and check() belong to the single leases: see leases(). Locks of different
/// ensembles have no token in common; QuorumLock says what to do.
///
/// Threads: different objects may be used by different threads at once; one object by one thread at
/// a time. Lifetimes: a group may outlive the lock object and the clients; closing a client loses
/// the leases of that client.
class [[nodiscard]] CUSTODIAN_EXPORT LeaseGroup {
 public:
  /// An empty group, which owns nothing.
  LeaseGroup() noexcept = default;
  /// A moved-from object is empty.
  LeaseGroup(LeaseGroup&& other) noexcept;
  /// Releases what this group held before. A moved-from object is empty.
  LeaseGroup& operator=(LeaseGroup&& other) noexcept;
  ~LeaseGroup();

  /// Whether the group is not empty. It may be lost: see state().
  [[nodiscard]] explicit operator bool() const& noexcept { return needed_ > 0; }
  /// Deleted for a temporary, which would release the locks before the condition's body runs: name
  /// the group, as in `if (auto result = both.try_acquire())`.
  explicit operator bool() const&& = delete;

  /// Releases all leases, the last one first. The group is empty afterwards. Does nothing if it is
  /// empty already.
  void release() noexcept;

  /// The state of the group: `held` while enough of the leases are held; `suspended` while enough
  /// are held or suspended; `lost` otherwise, for ever. Reads the boot clock, and asks no server.
  [[nodiscard]] LeaseState state() const noexcept;
  /// How long enough of the leases will last from now on without another answer from the servers;
  /// zero if the group is lost or empty.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// A token whose stop is requested as soon as too few of the leases are held; but never after the
  /// group was released (except for a loss that is being reported at that moment), nor if the group
  /// is empty. Its callbacks run, like those of Lease::lost(), on the callback executor of the
  /// client whose lost lease left too few leases held, and must not keep that executor busy.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// Waits until the group is lost.
  /// Completes with: error; no error when the group is lost.
  /// Cancellation: total.
  /// Errors: operation_aborted, also when the group is released first.
  /// Executor: the handler's, or the callback executor of the client of the first lock.
  template <typename Token>
  auto async_wait_lost(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_group_lost>(
        recipes_detail::core_of(loss_, "async_wait_lost"), std::forward<Token>(token), loss_);
  }

  /// The leases in the order in which they were acquired, for their tokens, nodes and checks. A
  /// group of a QuorumLock may have fewer leases than there are ensembles. Custom locks have no
  /// lease here. The span is valid until the group is moved, released or destroyed.
  [[nodiscard]] std::span<const Lease> leases() const noexcept { return leases_; }
  /// How many of its leases and custom locks the group needs to be held; 0 if the group is empty.
  [[nodiscard]] std::size_t needed() const noexcept { return needed_; }

  /// Another group on the same holds, lost or not: the locks are released with the last group.
  /// Empty if this group is empty.
  [[nodiscard]] LeaseGroup share() const;

  /// For authors of recipes. `home` is the client that waits are bound to. Throws Error
  /// (invalid_argument) unless `needed` is at least 1, and at most the number of leases.
  LeaseGroup(const Client& home, std::vector<Lease> leases, std::size_t needed);
  /// For authors of recipes: a group with custom locks, which are in the order in which they were
  /// acquired.
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
  /// The leases on the locks. Empty if the locks were not acquired.
  LeaseGroup leases{};
  /// The contender that was last seen ahead at the lock in `path`. Empty if there are leases, or if
  /// no contender was seen.
  std::optional<Participant> blocked_by{};
  /// The path of the lock that was not acquired; if several were not, that of the lock that ended
  /// the acquire. Empty if there are leases.
  std::string path{};
  /// Why the lock in `path` was not acquired.
  NotAcquired reason = NotAcquired::none;

  /// The reason as a sentence, as AcquireResult::explain() gives it, with the lock's path.
  [[nodiscard]] std::string explain() const {
    return recipes_detail::explain(reason, blocked_by, path);
  }

  /// Whether there are leases.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(leases); }
  /// Deleted for a temporary, whose leases would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

}  // namespace custodian
