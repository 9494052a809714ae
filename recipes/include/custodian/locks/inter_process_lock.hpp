#pragma once

/// \file
/// What the fair locks of this library have in common: how they are acquired, in two faces, and
/// looked at. The locks themselves are InterProcessMutex, and InterProcessReadWriteLock's two.
///
/// The *lease face* hands out a Lease: the object owns the lock, so it may travel between threads
/// and coroutines. The *standard face* is that of std::recursive_timed_mutex: the thread owns the
/// lock, and std::scoped_lock and std::unique_lock work. Both stand in the same queue.
///
/// Threads: any. Lifetimes: the client may go first (acquires then fail with closed); a lease or a
/// waiting acquire may outlive the lock object.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/hand_off.hpp"
#include "custodian/locks/naming_profile.hpp"

namespace custodian {

/// What every lock may be told. Everybody may use other options on the same path, but for the
/// profile.
struct LockOptions {
  /// The data of this lock's nodes, for people who look at them. Empty: the client's identity.
  std::string identity{};
  /// The terms of this lock's leases, on the standard face, too.
  LeaseOptions lease{};
  /// Whose names the nodes bear.
  NamingProfile profile = NamingProfile::curator;
  /// To whom the lock passes. Not with `lease.hold_at_most`, which ends a node. Of a read/write
  /// lock: of its writers.
  HandOff hand_off = HandOff::strict();
};

namespace recipes_detail {
struct WaitLimit;
struct LockSpec;
class LockHolds;
class ThreadHolds;
using LockSpecPtr = std::shared_ptr<const LockSpec>;

CUSTODIAN_EXPORT void start_acquire(CorePtr core, CancellationPtr cancellation, LockSpecPtr spec,
                                    AcquireOptions options, Handler<Lease> handler);
CUSTODIAN_EXPORT void start_try_acquire(CorePtr core, CancellationPtr cancellation,
                                        LockSpecPtr spec, AcquireOptions options,
                                        Handler<AcquireResult> handler);
CUSTODIAN_EXPORT void start_try_acquire_until(CorePtr core, CancellationPtr cancellation,
                                              LockSpecPtr spec, Deadline deadline,
                                              AcquireOptions options,
                                              Handler<AcquireResult> handler);
CUSTODIAN_EXPORT void start_acquire_beside(CorePtr core, CancellationPtr cancellation,
                                           LockSpecPtr spec, Lease held, AcquireOptions options,
                                           Handler<Lease> handler);
CUSTODIAN_EXPORT void start_participants(CorePtr core, CancellationPtr cancellation,
                                         LockSpecPtr spec, OperationOptions options,
                                         Handler<std::vector<Participant>> handler);
CUSTODIAN_EXPORT void start_queue_length(CorePtr core, CancellationPtr cancellation,
                                         LockSpecPtr spec, OperationOptions options,
                                         Handler<std::size_t> handler);
}  // namespace recipes_detail

/// A fair lock with its two faces. Made by InterProcessMutex or InterProcessReadWriteLock only.
/// \copydetails custodian/locks/inter_process_lock.hpp
class CUSTODIAN_EXPORT InterProcessLock {
 public:
  InterProcessLock(const InterProcessLock&) = delete;
  InterProcessLock& operator=(const InterProcessLock&) = delete;
  /// Of the moved-from object no member function may be called any more; it may be destroyed, or
  /// assigned to. What threads hold of it by the standard face goes along: they unlock the new
  /// object. Not while a blocking call of the object is under way.
  InterProcessLock(InterProcessLock&&) noexcept;
  /// The same. Threads must not hold the object that is assigned to.
  InterProcessLock& operator=(InterProcessLock&&) noexcept;

  /// The parent of the contenders' nodes.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The lease face
  /// Errors, for all: closed (or closing), no_auth, invalid_argument (a maximum time that is not
  /// positive), session_timeout_too_short, session_lost (with RequeuePolicy::fail),
  /// node_deleted (an operator removed the waiter's node; one that waits behind another of its
  /// client is told when its turn comes), sequence_exhausted, malformed_contender,
  /// operation_aborted, and what the server says. An acquire that ends without a lease leaves no
  /// node, whenever and however it ends.
  /// \{

  /// Waits for the lock, without limit: through disconnections, and through a lost session unless
  /// told otherwise. `stop` ends it with operation_aborted. Throws resource_deadlock_would_occur if
  /// this thread holds the lock, or the other one of a read/write lock, by the standard face, for
  /// then it would wait for itself.
  [[nodiscard]] Lease acquire(AcquireOptions options, std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] Lease acquire(std::stop_token stop = {}) {
    return acquire(AcquireOptions{}, std::move(stop));
  }

  /// Another lease on the hold that `lease` is a lease on: re-entry by name. Does not ask the
  /// server. Throws lock_lost if it is not held any more, invalid_argument if it is another lock's
  /// or another client's.
  ///
  /// With a lease on the write lock, the read lock besides: see InterProcessReadWriteLock. Asks the
  /// servers then, until they answer or the write lock is lost (lock_lost); `stop` ends it with
  /// operation_aborted; of the options the lease's terms count. The servers must let the client
  /// read the writer's node. With a lease on the read lock, the write lock is refused:
  /// resource_deadlock_would_occur.
  [[nodiscard]] Lease acquire(const Lease& lease, AcquireOptions options,
                              std::stop_token stop = {}) const;
  /// The same with default options.
  [[nodiscard]] Lease acquire(const Lease& lease, std::stop_token stop = {}) const {
    return acquire(lease, AcquireOptions{}, std::move(stop));
  }

  /// Takes the lock if nobody holds it or waits for it. It asks the servers once, and gives them as
  /// long as any operation (`ClientOptions::operation_timeout`). Without a connection it ends at
  /// once. An empty result says why (`reason`, `explain()`); a busy machine, a slow server or a
  /// missing connection is never an error here.
  [[nodiscard]] AcquireResult try_acquire(AcquireOptions options = {});

  /// Waits until the deadline, or for so long: `try_acquire_for(2s)`. Coming late is no error,
  /// whatever the cause: the empty result says whether somebody is ahead, the servers did not
  /// answer, there is no connection, or nobody runs the client's context. The blocking form ends a
  /// tenth of a second after the deadline at the latest. With a deadline that has passed, or no
  /// time to wait, it is try_acquire().
  [[nodiscard]] AcquireResult try_acquire_until(Deadline deadline, AcquireOptions options,
                                                std::stop_token stop = {});
  /// The same with default options.
  [[nodiscard]] AcquireResult try_acquire_until(Deadline deadline, std::stop_token stop = {}) {
    return try_acquire_until(deadline, AcquireOptions{}, std::move(stop));
  }
  /// Waits for so long: the same with the deadline from now on.
  [[nodiscard]] AcquireResult try_acquire_for(std::chrono::nanoseconds wait, AcquireOptions options,
                                              std::stop_token stop = {}) {
    return try_acquire_until(Deadline{wait}, std::move(options), std::move(stop));
  }
  /// The same with default options.
  [[nodiscard]] AcquireResult try_acquire_for(std::chrono::nanoseconds wait,
                                              std::stop_token stop = {}) {
    return try_acquire_for(wait, AcquireOptions{}, std::move(stop));
  }

  /// This and the tries below are the same three, for any completion token.
  /// Completes with: error, lease; a try with: error, AcquireResult.
  /// Cancellation: total. A lease that comes too late for it is released again.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, Lease), &recipes_detail::start_acquire>(
        core_, std::forward<Token>(token), spec_, std::move(options));
  }
  /// The same with default options.
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// As acquire(lease), for any completion token. Otherwise as async_acquire().
  template <std::same_as<Lease> Held, typename Token>
  auto async_acquire(const Held& lease, AcquireOptions options, Token&& token) const {
    return initiate<void(error_code, Lease), &recipes_detail::start_acquire_beside>(
        core_, std::forward<Token>(token), spec_, lease.share(), std::move(options));
  }
  /// The same with default options.
  template <std::same_as<Lease> Held, typename Token>
  auto async_acquire(const Held& lease, Token&& token) const {
    return async_acquire(lease, AcquireOptions{}, std::forward<Token>(token));
  }
  /// As try_acquire(), for any completion token. Otherwise as async_acquire().
  template <typename Token>
  auto async_try_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, AcquireResult), &recipes_detail::start_try_acquire>(
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
    return initiate<void(error_code, AcquireResult), &recipes_detail::start_try_acquire_until>(
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

  /// \name The standard face: TimedLockable, re-entrant per thread
  /// \{

  /// Throws Error as acquire() does; and lock_lost if this thread holds the lock, or the other one
  /// of a read/write lock, but has lost it: unlock first. This and the tries below throw
  /// resource_deadlock_would_occur, at once, if this is the write lock and the thread holds only
  /// the read lock.
  void lock();
  /// As try_acquire(), or another hold if this thread has the lock: false if there is no
  /// connection, too. Throws Error as lock() does.
  [[nodiscard]] bool try_lock();
  /// The same as try_acquire_until(), for so long.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_until(Deadline{wait});
  }
  /// The same as try_acquire_until(), for any clock: that is read once, at the beginning.
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_until(Deadline{time - Clock::now()});
  }
  /// The same as try_acquire_until().
  [[nodiscard]] bool try_lock_until(Deadline deadline);
  /// Gives back one hold; the last one releases the lock. Quiet if the lock was lost meanwhile,
  /// since it runs in destructors. Throws Error (operation_not_permitted) on a thread that does not
  /// hold it.
  void unlock();

  /// The lease behind this thread's hold, shared: for its token, its state, and to be told of its
  /// loss. Empty if this thread has locked nothing. Keeps the lock until it is released, too.
  [[nodiscard]] Lease current_lease() const;
  /// Whether this thread has locked it, and has not lost it. Apache Curator's
  /// isOwnedByCurrentThread.
  [[nodiscard]] bool is_held_by_this_thread() const;
  /// The same; the name that all locks of this library have for it.
  [[nodiscard]] bool owns_lock() const { return is_held_by_this_thread(); }
  /// How often this thread would have to unlock().
  [[nodiscard]] int hold_count() const;
  /// \}

  /// \name Introspection
  /// \{

  /// The queue in order, the holder first, whoever they are. A look at the past when it arrives.
  /// Completes with: error, the participants.
  /// Cancellation: total.
  /// Errors: no_auth, deadline_exceeded, operation_aborted, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_participants>(core_, std::forward<Token>(token), spec_,
                                                         options);
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// How many hold it or wait for it. Otherwise as async_participants().
  template <typename Token>
  auto async_queue_length(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::size_t), &recipes_detail::start_queue_length>(
        core_, std::forward<Token>(token), spec_, options);
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] std::size_t queue_length(OperationOptions options = {}) const;

  /// For authors of recipes: where an acquire stands.
  [[nodiscard]] const recipes_detail::LockSpecPtr& spec() const noexcept { return spec_; }
  /// \}

 protected:
  /// Threads must not hold it by the standard face any more; what they held is released.
  ~InterProcessLock();
  /// `holds` is shared by the locks of one read/write lock.
  InterProcessLock(recipes_detail::LockSpecPtr spec,
                   std::shared_ptr<recipes_detail::LockHolds> holds);

 private:
  [[nodiscard]] recipes_detail::ThreadHolds& holds() const;
  [[nodiscard]] bool enter(std::string_view operation, const recipes_detail::WaitLimit& wait_limit);

  CorePtr core_;
  recipes_detail::LockSpecPtr spec_;
  std::shared_ptr<recipes_detail::LockHolds> holds_;
};

}  // namespace custodian
