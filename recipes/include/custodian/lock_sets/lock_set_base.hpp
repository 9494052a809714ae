#pragma once

/// \file
/// LockSetBase is the common part of locks that are made of several locks: how they are acquired,
/// in two faces. The locks themselves are InterProcessMultiLock and QuorumLock.
///
/// The *lease face* hands out a LeaseGroup, which is the lock. On the *standard face*,
/// TimedLockable (std::scoped_lock and std::unique_lock work), the object has the lock: any thread
/// may unlock it. Nothing is re-entrant: an acquire by a holder of one of the locks, by this object
/// or otherwise, waits for itself.
///
/// An acquire is run by the client of the first lock, and ends with `closed` when that is closed.
/// It passes through the executor of every client in turn: one that is stopped or kept busy holds
/// the acquire up, its deadline and its cancellation included.
///
/// Threads: any. Lifetimes: the clients may go first (acquires then fail with closed); a group or a
/// waiting acquire may outlive the lock object.

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/export.hpp"
#include "custodian/lock_sets/lease_group.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/timed_acquire.hpp"
#include "custodian/locks/timed_lockable.hpp"

namespace custodian {

namespace recipes_detail {
struct LockSet;
using LockSetPtr = std::shared_ptr<const LockSet>;
template <typename Held>
class HoldPool;

CUSTODIAN_EXPORT void start_acquire_group(CorePtr core, CancellationPtr cancellation,
                                          LockSetPtr locks, WaitLimit limit, AcquireOptions options,
                                          Handler<GroupAcquireResult> handler);
}  // namespace recipes_detail

/// Several locks that are acquired as one. Made by InterProcessMultiLock or QuorumLock only.
/// \copydetails custodian/lock_sets/lock_set_base.hpp
///
/// Contracts and errors of the acquires as TimedAcquire has them, for every lock; an Error's path()
/// is that of the lock that decided. An acquire that ends without a group leaves no node, whenever
/// and however it ends: its locks are released, the last one first. When these are lost while it
/// waits for others it begins again with the first, and calls `on_requeued`, unless RequeuePolicy
/// says otherwise. Other losses are errors: node_deleted, lock_lost (its maximum time is up),
/// closed. `on_position` is called for each lock's queue in turn, on the callback executor of that
/// lock's client.
///
/// There is one deadline for all: each lock is given what is left of it. A try waits for no lock. A
/// result without leases tells who was in the way, and where: its path is that of the lock that
/// failed or was in the way. A handler without an executor runs on the callback executor of the
/// client of the first lock.
class CUSTODIAN_EXPORT LockSetBase
    : public TimedAcquire<LockSetBase, LeaseGroup, GroupAcquireResult>,
      public TimedLockable<LockSetBase> {
 public:
  LockSetBase(const LockSetBase&) = delete;
  LockSetBase& operator=(const LockSetBase&) = delete;
  /// As InterProcessLock's: a moved-from object may be destroyed, or assigned to.
  LockSetBase(LockSetBase&&) noexcept;
  /// The same. What the object that is assigned to had locked is unlocked.
  LockSetBase& operator=(LockSetBase&&) noexcept;

  /// The paths of the locks, in the order in which they are acquired; the names of custom ones.
  [[nodiscard]] std::vector<std::string> paths() const;

  /// \name The standard face: as TimedLockable has it, owned by the object
  /// \{

  /// On any thread. Quiet if it was lost meanwhile. Throws Error (operation_not_permitted) if the
  /// object has not locked it. As InterProcessSemaphoreMutex::unlock() otherwise.
  void unlock();

  /// The leases behind the object's youngest hold, shared, as
  /// InterProcessSemaphoreMutex::current_lease().
  [[nodiscard]] LeaseGroup current_leases() const;
  /// Whether the object has locked it, and has not lost it.
  [[nodiscard]] bool owns_lock() const;
  /// \}

 protected:
  /// For the locks that are made of several.
  explicit LockSetBase(recipes_detail::LockSetPtr locks);
  /// Unlocks what is locked.
  ~LockSetBase();

  /// The locks that it is made of.
  [[nodiscard]] const recipes_detail::LockSet& locks() const noexcept { return *spec_; }

 private:
  friend BlockingAcquire;
  friend TimedAcquire;
  friend TimedLockable;
  static constexpr auto start = &recipes_detail::start_acquire_group;
  static constexpr auto held = &GroupAcquireResult::leases;

  [[nodiscard]] GroupAcquireResult acquire_within(std::string_view operation,
                                                  const WaitLimit& limit, AcquireOptions options,
                                                  std::stop_token stop) const;
  [[nodiscard]] bool lock_within(std::string_view operation, const WaitLimit& limit);

  CorePtr core_;
  recipes_detail::LockSetPtr spec_;
  std::unique_ptr<recipes_detail::HoldPool<LeaseGroup>> pool_;
};

}  // namespace custodian
