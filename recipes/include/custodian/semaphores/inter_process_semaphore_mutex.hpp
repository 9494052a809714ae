#pragma once

/// \file
/// A fair mutex over processes that no thread owns: whoever has the object may unlock it, and who
/// locks it twice waits for themselves, as with std::binary_semaphore.
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

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"

namespace custodian {

namespace recipes_detail {
CUSTODIAN_EXPORT void start_acquire_permit(CorePtr core, CancellationPtr cancellation,
                                           SemaphoreSpecPtr spec, AcquireOptions options,
                                           Handler<Lease> handler);
CUSTODIAN_EXPORT void start_try_acquire_permit(CorePtr core, CancellationPtr cancellation,
                                               SemaphoreSpecPtr spec, AcquireOptions options,
                                               Handler<AcquireResult> handler);
CUSTODIAN_EXPORT void start_try_acquire_permit_until(CorePtr core, CancellationPtr cancellation,
                                                     SemaphoreSpecPtr spec, Deadline deadline,
                                                     AcquireOptions options,
                                                     Handler<AcquireResult> handler);
}  // namespace recipes_detail

/// A fair mutex over processes that no thread owns.
/// \copydetails custodian/semaphores/inter_process_semaphore_mutex.hpp
class CUSTODIAN_EXPORT InterProcessSemaphoreMutex {
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

  /// \name The lease face
  /// Contracts and errors as InterProcessLock's of the same names, but that nothing is re-entrant
  /// and no thread is known: an acquire by somebody who holds it waits. A try may fail although it
  /// is free: when another acquire is just passing.
  /// \{

  /// Waits without limit.
  [[nodiscard]] Lease acquire(AcquireOptions options, std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] Lease acquire(std::stop_token stop = {}) {
    return acquire(AcquireOptions{}, std::move(stop));
  }
  /// Takes it if it is free.
  [[nodiscard]] AcquireResult try_acquire(AcquireOptions options = {});
  /// Waits until the deadline.
  [[nodiscard]] AcquireResult try_acquire_until(Deadline deadline, AcquireOptions options,
                                                std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] AcquireResult try_acquire_until(Deadline deadline, std::stop_token stop = {}) {
    return try_acquire_until(deadline, AcquireOptions{}, std::move(stop));
  }
  /// Waits for so long.
  [[nodiscard]] AcquireResult try_acquire_for(std::chrono::nanoseconds wait, AcquireOptions options,
                                              std::stop_token stop = {}) {
    return try_acquire_until(Deadline{wait}, std::move(options), std::move(stop));
  }
  /// The same with default options.
  [[nodiscard]] AcquireResult try_acquire_for(std::chrono::nanoseconds wait,
                                              std::stop_token stop = {}) {
    return try_acquire_for(wait, AcquireOptions{}, std::move(stop));
  }

  /// This and the tries below are the same three, for any completion token: see
  /// InterProcessLock::async_acquire().
  template <typename Token>
  auto async_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, Lease), &recipes_detail::start_acquire_permit>(
        core_, std::forward<Token>(token), spec_, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, AcquireResult), &recipes_detail::start_try_acquire_permit>(
        core_, std::forward<Token>(token), spec_, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_acquire(Token&& token) {
    return async_try_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire_until(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, AcquireOptions options, Token&& token) {
    return initiate<void(error_code, AcquireResult),
                    &recipes_detail::start_try_acquire_permit_until>(
        core_, std::forward<Token>(token), spec_, deadline, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, Token&& token) {
    return async_try_acquire_until(deadline, AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire_for(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire_for(std::chrono::nanoseconds wait, AcquireOptions options, Token&& token) {
    return async_try_acquire_until(Deadline{wait}, std::move(options), std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_acquire_for(std::chrono::nanoseconds wait, Token&& token) {
    return async_try_acquire_for(wait, AcquireOptions{}, std::forward<Token>(token));
  }
  /// \}

  /// \name The standard face: TimedLockable, owned by the object
  /// \{

  /// As acquire(): waits without limit. Throws Error as that does.
  void lock();
  /// As try_acquire().
  [[nodiscard]] bool try_lock();
  /// As try_acquire_until(), for so long.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_until(Deadline{wait});
  }
  /// As try_acquire_until(), for any clock: that is read once, at the beginning.
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_until(Deadline{time - Clock::now()});
  }
  /// As try_acquire_until().
  [[nodiscard]] bool try_lock_until(Deadline deadline);
  /// On any thread. Quiet if the lock was lost meanwhile. Throws Error (operation_not_permitted) if
  /// the object has not locked it.
  ///
  /// Every lock() wants an unlock(), also if it was lost in between. Should another thread lock the
  /// object before that, its hold is the younger one: the first unlock() gives back the lost one.
  void unlock();

  /// The lease behind the object's youngest hold, shared: for its token, its state, and to be told
  /// of its loss. Empty if it is not locked. Keeps the lock until it is released, too. It is the
  /// object's and need not be the caller's: who has lost the lock finds here whoever locked the
  /// object since. A holder that guards its writes by a token takes the lease face.
  [[nodiscard]] Lease current_lease() const;
  /// Whether the object has locked it, and has not lost it.
  [[nodiscard]] bool owns_lock() const;
  /// \}

  /// \name Introspection
  /// \{

  /// Whoever holds it, and after that perhaps who will be next. As
  /// InterProcessSemaphore::participants().
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_permit_holders>(core_, std::forward<Token>(token), spec_,
                                                           options);
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// For authors of recipes: where an acquire stands.
  [[nodiscard]] const recipes_detail::SemaphoreSpecPtr& spec() const noexcept { return spec_; }
  /// \}

 private:
  [[nodiscard]] const Client& client() const;
  [[nodiscard]] AcquireResult try_in(std::string_view operation, AcquireOptions options);
  [[nodiscard]] AcquireResult try_until(std::string_view operation, Deadline deadline,
                                        AcquireOptions options, std::stop_token stop);

  CorePtr core_;
  recipes_detail::SemaphoreSpecPtr spec_;
  /// Locked by the standard face; several only if all but the youngest are lost.
  std::unique_ptr<recipes_detail::HoldPool<Lease>> pool_;
};

}  // namespace custodian
