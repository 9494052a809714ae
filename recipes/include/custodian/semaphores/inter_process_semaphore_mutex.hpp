#pragma once

/// \file
/// InterProcessSemaphoreMutex is a fair mutex over processes that no thread owns: any thread may
/// unlock it, and a thread that locks it twice waits for itself, as with std::binary_semaphore.
///
///     InterProcessSemaphoreMutex mutex{client, "/migration"};
///     mutex.lock();                                  // here,
///     std::jthread{[&] { ...; mutex.unlock(); }};    // and there
///
/// Two faces. The lease face hands out a Lease, which is the lock. On the standard face,
/// TimedLockable (std::scoped_lock and std::unique_lock work), the object has the lock.
///
/// Do not use it where one thread locks and unlocks: InterProcessMutex asks less of the servers
/// (this one creates two nodes for each acquire), and is re-entrant.
///
/// On the servers it is a semaphore of one permit, as Apache Curator lays it out: Curator's
/// InterProcessSemaphoreMutex and InterProcessSemaphoreV2 may share the path.
///
/// Threads: any. Lifetimes: as InterProcessMutex.

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
/// Its acquires are TimedAcquire's, and nothing is re-entrant and no thread is known: an acquire by
/// its holder waits. A try may fail although it is free: when another acquire is just passing.
class CUSTODIAN_EXPORT InterProcessSemaphoreMutex
    : public TimedAcquire<InterProcessSemaphoreMutex, Lease, AcquireResult>,
      public TimedLockable<InterProcessSemaphoreMutex> {
 public:
  /// Throws Error as InterProcessSemaphore's does.
  InterProcessSemaphoreMutex(const Client& client, const std::string& path,
                             const LockOptions& options = {});
  InterProcessSemaphoreMutex(const InterProcessSemaphoreMutex&) = delete;
  InterProcessSemaphoreMutex& operator=(const InterProcessSemaphoreMutex&) = delete;
  /// As InterProcessLock's: a moved-from object may be destroyed, or assigned to.
  InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept;
  /// The same. What the object that is assigned to had locked is unlocked.
  InterProcessSemaphoreMutex& operator=(InterProcessSemaphoreMutex&&) noexcept;
  /// Unlocks what is locked.
  ~InterProcessSemaphoreMutex();

  /// The parent of `locks` and `leases`.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The standard face: as TimedLockable has it, owned by the object
  /// \{

  /// On any thread. Quiet if the lock was lost meanwhile. Throws Error (operation_not_permitted) if
  /// the object has not locked it.
  ///
  /// Every lock() wants an unlock(), also if it was lost in between. Should another thread lock the
  /// object before that, its hold is the younger one: the first unlock() gives back the lost one.
  void unlock();

  /// The lease behind the object's youngest hold, shared: for its token, its state, and its loss.
  /// Empty if it is not locked. Keeps the lock until it is released, too. It is the object's and
  /// need not be the caller's: after a loss it may be that of another thread, which has locked the
  /// object since. A holder that guards its writes by a token takes the lease face.
  [[nodiscard]] Lease current_lease() const;
  /// Whether the object has locked it, and has not lost it.
  [[nodiscard]] bool owns_lock() const;
  /// \}

  /// \name Introspection
  /// \{

  /// The holder, and after it perhaps the next one. As InterProcessSemaphore::participants().
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_permit_holders>(core_, std::forward<Token>(token), spec_,
                                                           options);
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// For authors of recipes: the lock of an acquire.
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
  /// Locked by the standard face; several only if all but the youngest are lost.
  std::unique_ptr<recipes_detail::HoldPool<Lease>> pool_;
};

}  // namespace custodian
