#pragma once

/// \file
/// LockSetBase is the common part of locks that are made of several locks: their acquires, by two
/// faces. The locks themselves are InterProcessMultiLock and QuorumLock.
///
/// The *lease face* hands out a LeaseGroup, which owns the locks. On the *standard face*,
/// TimedLockable (std::scoped_lock and std::unique_lock work), the object owns the locks: any
/// thread may unlock it. There is no re-entry: a caller that already holds one of the locks, by
/// this object or otherwise, waits for itself.
///
/// An acquire is run by the client of the first lock, and ends with `closed` when that client is
/// closed. The acquire passes through the executor of every client in turn: an executor that is
/// stopped or kept busy delays the acquire, even beyond its deadline or its cancellation.
///
/// Threads: any. Lifetimes: the clients may be destroyed first (acquires then fail with closed); a
/// group or a waiting acquire may outlive the lock object.

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
/// The acquires have the contracts and errors of TimedAcquire, for every lock; an Error's path() is
/// that of the lock that ended the acquire. An acquire that ends without a group leaves no node,
/// whenever and however it ends: its locks are released, the last one first. If some of its locks
/// are lost with their session while it waits for others, it begins again with the first lock and
/// calls `on_requeued`, unless RequeuePolicy says otherwise. Other losses are errors: node_deleted,
/// lock_lost (a lease's maximum time is up), closed. `on_position` is called for each lock's queue
/// in turn, on the callback executor of that lock's client.
///
/// One deadline applies to all locks: each lock is given the time that is left. A try waits for no
/// lock. A result without leases names the contender that was in the way, and the path of the lock
/// that failed or was not free. A handler without an executor runs on the callback executor of the
/// client of the first lock.
class CUSTODIAN_EXPORT LockSetBase
    : public TimedAcquire<LockSetBase, LeaseGroup, GroupAcquireResult>,
      public TimedLockable<LockSetBase> {
 public:
  LockSetBase(const LockSetBase&) = delete;
  LockSetBase& operator=(const LockSetBase&) = delete;
  /// Moves as InterProcessLock does: a moved-from object may only be destroyed, or assigned to.
  LockSetBase(LockSetBase&&) noexcept;
  /// Moves as the constructor does, and unlocks the locks that this object held.
  LockSetBase& operator=(LockSetBase&&) noexcept;

  /// The paths of the locks, or the names of custom locks, in the order in which they are acquired.
  [[nodiscard]] std::vector<std::string> paths() const;

  /// \name The standard face: as TimedLockable has it, owned by the object
  /// \{

  /// Unlocks the locks; may be called on any thread. Does not throw if the locks were lost
  /// meanwhile. Throws Error (operation_not_permitted) if the object has not locked them. All else
  /// is as for InterProcessSemaphoreMutex::unlock().
  void unlock();

  /// A group that shares the object's youngest hold, as InterProcessSemaphoreMutex::current_lease()
  /// does.
  [[nodiscard]] LeaseGroup current_leases() const;
  /// Whether the object has locked the locks, and has not lost them.
  [[nodiscard]] bool owns_lock() const;
  /// \}

 protected:
  /// Called by InterProcessMultiLock and QuorumLock.
  explicit LockSetBase(recipes_detail::LockSetPtr locks);
  /// Unlocks the locks if the object has locked them.
  ~LockSetBase();

  /// The locks that this lock is made of.
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
