#pragma once

/// \file
/// What locks that are made of several locks have in common: how they are acquired, in two faces.
/// The locks themselves are InterProcessMultiLock and QuorumLock.
///
/// The *lease face* hands out a LeaseGroup, which is the lock. On the *standard face*,
/// TimedLockable (std::scoped_lock and std::unique_lock work), the object has the lock: any thread
/// may unlock it. Nothing is re-entrant: an acquire by somebody who holds one of the locks already,
/// by this object or otherwise, waits for itself.
///
/// An acquire is run by the client of the first lock, and ends with `closed` when that is closed.
/// It passes through the executor of every client in turn: one that is stopped or kept busy holds
/// the acquire up, its deadline and its cancellation included.
///
/// Threads: any. Lifetimes: the clients may go first (acquires then fail with closed); a group or a
/// waiting acquire may outlive the lock object.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lock_sets/lease_group.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian {

namespace recipes_detail {
struct LockSet;
using LockSetPtr = std::shared_ptr<const LockSet>;
struct WaitLimit;
template <typename Held>
class HoldPool;

CUSTODIAN_EXPORT void start_acquire_group(CorePtr core, CancellationPtr cancellation,
                                          LockSetPtr locks, AcquireOptions options,
                                          Handler<LeaseGroup> handler);
CUSTODIAN_EXPORT void start_try_acquire_group(CorePtr core, CancellationPtr cancellation,
                                              LockSetPtr locks, AcquireOptions options,
                                              Handler<GroupAcquireResult> handler);
CUSTODIAN_EXPORT void start_try_acquire_group_until(CorePtr core, CancellationPtr cancellation,
                                                    LockSetPtr locks, Deadline deadline,
                                                    AcquireOptions options,
                                                    Handler<GroupAcquireResult> handler);
}  // namespace recipes_detail

/// Several locks that are acquired as one. Made by InterProcessMultiLock or QuorumLock only.
/// \copydetails custodian/lock_sets/lock_set_base.hpp
class CUSTODIAN_EXPORT LockSetBase {
 public:
  LockSetBase(const LockSetBase&) = delete;
  LockSetBase& operator=(const LockSetBase&) = delete;
  /// As InterProcessLock's: a moved-from object may be destroyed, or assigned to.
  LockSetBase(LockSetBase&&) noexcept;
  /// The same. What the object that is assigned to had locked is unlocked.
  LockSetBase& operator=(LockSetBase&&) noexcept;

  /// Of the locks, in the order in which they are acquired; the names of custom ones.
  [[nodiscard]] std::vector<std::string> paths() const;

  /// \name The lease face
  /// Contracts and errors as InterProcessLock's of the same names, for every lock; an Error's
  /// path() is that of the lock that decided. An acquire that ends without a group leaves no node,
  /// whenever and however it ends: what it had is released, the last one first. When the locks that
  /// it had are lost while it waits for others it begins again with the first, and calls
  /// `on_requeued`, unless told otherwise (RequeuePolicy). Other losses are errors: node_deleted,
  /// lock_lost (its maximum time is up), closed. `on_position` is told of each lock's queue in
  /// turn, on the callback executor of that lock's client.
  /// \{

  /// Waits without limit. `stop` ends it with operation_aborted.
  [[nodiscard]] LeaseGroup acquire(AcquireOptions options, std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] LeaseGroup acquire(std::stop_token stop = {}) {
    return acquire(AcquireOptions{}, std::move(stop));
  }

  /// Waits for no lock. A result without leases tells who was in the way, and where.
  [[nodiscard]] GroupAcquireResult try_acquire(AcquireOptions options = {});

  /// One deadline for all: each lock is given what is left of it. Coming late is no error, whatever
  /// the cause: see InterProcessLock::try_acquire_until(). With a deadline that has passed, or no
  /// time to wait, it is try_acquire().
  [[nodiscard]] GroupAcquireResult try_acquire_until(Deadline deadline, AcquireOptions options,
                                                     std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] GroupAcquireResult try_acquire_until(Deadline deadline, std::stop_token stop = {}) {
    return try_acquire_until(deadline, AcquireOptions{}, std::move(stop));
  }
  /// Waits for so long: the same with the deadline from now on.
  [[nodiscard]] GroupAcquireResult try_acquire_for(std::chrono::nanoseconds wait,
                                                   AcquireOptions options,
                                                   std::stop_token stop = {}) {
    return try_acquire_until(Deadline{wait}, std::move(options), std::move(stop));
  }
  /// The same with default options.
  [[nodiscard]] GroupAcquireResult try_acquire_for(std::chrono::nanoseconds wait,
                                                   std::stop_token stop = {}) {
    return try_acquire_for(wait, AcquireOptions{}, std::move(stop));
  }

  /// This and the tries below are the same three, for any completion token.
  /// Completes with: error, LeaseGroup; a try with: error, GroupAcquireResult, whose path is that
  /// of the lock that failed or was in the way. Cancellation: total. Executor: the handler's, or
  /// the callback executor of the client of the first lock.
  template <typename Token>
  auto async_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, LeaseGroup), &recipes_detail::start_acquire_group>(
        core_, std::forward<Token>(token), locks_, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, GroupAcquireResult), &recipes_detail::start_try_acquire_group>(
        core_, std::forward<Token>(token), locks_, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_acquire(Token&& token) {
    return async_try_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire_until(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, AcquireOptions options, Token&& token) {
    return initiate<void(error_code, GroupAcquireResult),
                    &recipes_detail::start_try_acquire_group_until>(
        core_, std::forward<Token>(token), locks_, deadline, std::move(options));
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
  /// As try_acquire(): whether all, or enough, were free.
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

  /// What it is made of.
  [[nodiscard]] const recipes_detail::LockSet& locks() const noexcept { return *locks_; }

 private:
  [[nodiscard]] GroupAcquireResult wait_for(std::string_view operation,
                                            const recipes_detail::WaitLimit& wait_limit,
                                            std::stop_token stop, AcquireOptions options) const;

  CorePtr core_;
  recipes_detail::LockSetPtr locks_;
  std::unique_ptr<recipes_detail::HoldPool<LeaseGroup>> pool_;
};

}  // namespace custodian
