#pragma once

/// \file
/// InterProcessSemaphoreMutex is a fair mutex over processes that no thread owns: any thread may
/// unlock it, and a thread that locks it twice waits for itself, as with std::binary_semaphore.
///
///     InterProcessSemaphoreMutex mutex{client, "/migration"};
///     mutex.lock();                                  // here,
///     std::jthread{[&] { ...; mutex.unlock(); }};    // and there
///
/// The mutex has two faces. The lease face hands out a Lease, which owns the lock. On the standard
/// face, TimedLockable (std::scoped_lock and std::unique_lock work), the mutex object owns the
/// lock.
///
/// Do not use it where one thread locks and unlocks: InterProcessMutex costs the servers less (this
/// mutex creates two nodes for each acquire), and is re-entrant.
///
/// On the servers the mutex is a semaphore of one permit, as Apache Curator lays it out: Curator's
/// InterProcessSemaphoreMutex and InterProcessSemaphoreV2 may share the path.
///
/// Threads: any. Lifetimes: those of InterProcessLock.

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/locks/timed_acquire.hpp"
#include "custodian/locks/timed_lockable.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"

namespace custodian {

/// A fair mutex over processes that no thread owns.
/// \copydetails custodian/semaphores/inter_process_semaphore_mutex.hpp
///
/// Its acquires are those of TimedAcquire. There is no re-entry, and no thread counts as the owner:
/// an acquire by the holder waits. A try may fail on a free mutex if another acquire is under way.
class CUSTODIAN_EXPORT InterProcessSemaphoreMutex
    : public TimedAcquire<InterProcessSemaphoreMutex, Lease, AcquireResult>,
      public TimedLockable<InterProcessSemaphoreMutex> {
 public:
  /// Throws Error as the constructor of InterProcessSemaphore does.
  InterProcessSemaphoreMutex(const Client& client, const std::string& path,
                             const LockOptions& options = {});
  InterProcessSemaphoreMutex(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex& operator=(const InterProcessSemaphoreMutex&) = delete;
  /// Moves as InterProcessLock does: a moved-from object may only be destroyed, or assigned to.
  InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept;
  /// Moves as the constructor does, and unlocks the lock that this object held.
  InterProcessSemaphoreMutex& operator=(InterProcessSemaphoreMutex&&) noexcept;
  /// Unlocks the mutex if the object has locked it.
  ~InterProcessSemaphoreMutex();

  /// The path of the mutex: the parent of its nodes `locks` and `leases`.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The standard face: as TimedLockable has it, owned by the object
  /// \{

  /// Unlocks the mutex; may be called on any thread. Does not throw if the lock was lost meanwhile.
  /// Throws Error (operation_not_permitted) if the object has not locked the mutex.
  ///
  /// Every lock() needs an unlock(), even if the lock was lost in between. If another thread locks
  /// the object after the loss and before that unlock(), the first unlock() releases the older
  /// hold, which is lost.
  void unlock();

  /// A lease that shares the object's youngest hold: for its token, its state, and its loss. Empty
  /// if the object has not locked the mutex. The returned lease, too, keeps the lock until it is
  /// released. The hold belongs to the object, not to the caller: after a loss it may be that of
  /// another thread, which has locked the object since. A holder that guards its writes by a token
  /// uses the lease face.
  [[nodiscard]] Lease current_lease() const;
  /// Whether the object has locked the mutex, and has not lost it.
  [[nodiscard]] bool owns_lock() const;
  /// \}

  /// \name Introspection
  /// \{

  /// Lists the holder, perhaps followed by the next one. All else is as for
  /// InterProcessSemaphore::async_participants().
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_permit_holders>(core_, std::forward<Token>(token), spec_,
                                                           options);
  }
  /// The blocking form of async_participants(). Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// For authors of recipes: the description of the mutex, which starting an acquire needs.
  [[nodiscard]] const recipes_detail::SemaphoreSpecPtr& spec() const noexcept { return spec_; }
  /// \}

 private:
  friend BlockingAcquire;
  friend TimedAcquire;
  friend TimedLockable;
  static constexpr auto start = &recipes_detail::start_acquire_permit;
  static constexpr auto held = &AcquireResult::lease;

  [[nodiscard]] AcquireResult acquire_within(std::string_view operation, const WaitLimit& limit,
                                             AcquireOptions options, std::stop_token stop) const;
  [[nodiscard]] bool lock_within(std::string_view operation, const WaitLimit& limit);

  CorePtr core_;
  recipes_detail::SemaphoreSpecPtr spec_;
  /// The holds of the standard face; there are several only if all but the youngest are lost.
  std::unique_ptr<recipes_detail::HoldPool<Lease>> pool_;
};

}  // namespace custodian
