#pragma once

/// \file
/// InterProcessSemaphoreMutex is a fair mutex over processes that no thread owns: any thread may
/// unlock it, and a thread that locks it twice waits for itself, as with std::binary_semaphore.
///
///     InterProcessSemaphoreMutex mutex{client, "/migration"};
///     mutex.lock();                                  // here,
///     std::jthread{[&] { ...; mutex.unlock(); }};    // and there
///
/// Two faces. The lease face hands out a Lease, which owns the lock. On the standard face,
/// TimedLockable (std::scoped_lock and std::unique_lock work), the object owns the lock.
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
/// Its acquires are those of TimedAcquire. Nothing is re-entrant, and no thread counts as the
/// owner: an acquire by the holder waits. A try may fail on a free mutex if another acquire is
/// under way.
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
  /// The same. A lock that this object held is unlocked.
  InterProcessSemaphoreMutex& operator=(InterProcessSemaphoreMutex&&) noexcept;
  /// Unlocks what is locked.
  ~InterProcessSemaphoreMutex();

  /// The parent of `locks` and `leases`.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The standard face: as TimedLockable has it, owned by the object
  /// \{

  /// May be called on any thread. Does not throw if the lock was lost meanwhile. Throws Error
  /// (operation_not_permitted) if the object has not locked it.
  ///
  /// Every lock() needs an unlock(), also if the lock was lost in between. If another thread locks
  /// the object before that unlock(), the first unlock() releases the older hold, which is lost.
  void unlock();

  /// The lease behind the object's youngest hold, shared: for its token, its state, and its loss.
  /// Empty if it is not locked. The returned lease, too, keeps the lock until it is released. It
  /// belongs to the object, not to the caller: after a loss it may be that of another thread, which
  /// has locked the object since. A holder that guards its writes by a token uses the lease face.
  [[nodiscard]] Lease current_lease() const;
  /// Whether the object has locked it, and has not lost it.
  [[nodiscard]] bool owns_lock() const;
  /// \}

  /// \name Introspection
  /// \{

  /// The holder, perhaps followed by the next one. As InterProcessSemaphore::participants().
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_permit_holders>(core_, std::forward<Token>(token), spec_,
                                                           options);
  }
  /// The blocking form of async_participants(). Throws Error.
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
  /// The holds of the standard face; there are several only if all but the youngest are lost.
  std::unique_ptr<recipes_detail::HoldPool<Lease>> pool_;
};

}  // namespace custodian
