#pragma once

/// \file
/// InterProcessCondition is a condition variable among processes: the holder of a lock waits until
/// another holder signals that something has changed.
///
///     InterProcessMutex mutex{client, "/orders/lock"};
///     InterProcessCondition changed{mutex, "/orders/changed"};
///
///     std::unique_lock lock{mutex};                        // a consumer
///     changed.wait(lock, [&] { return there_is_an_order(); });
///
///     const std::scoped_lock lock{mutex};                  // a producer
///     add_order();
///     changed.notify_one();
///
/// No signal is lost: a waiter is in line before it releases the lock, and the signal to a waiter
/// whose process dies, whose session is lost, or that gives up, goes to the next waiter. The waiter
/// that waits longest is signalled first; it then queues for the lock, at the end. A wait may end
/// without a signal (*spurious*), as with std::condition_variable: so wait with a predicate, or in
/// a loop.
///
/// When not to use it: to wait for a change of one node (Watch), for a number of processes to
/// arrive (CountDownLatch), or to hand out work to thousands of waiters (a wait costs five writes).
/// The state that the predicate reads must be kept where all can read it, on the servers or in a
/// database, and be read under the lock. If a process dies *after* its wait has returned, its
/// signal is lost with it; so is the signal of a waiter whose client is closed while it acquires
/// the lock again. Where the work must go on, a holder looks at the predicate before it waits, and
/// notify_all() wakes everybody.
///
/// Unlike with std::condition_variable, the signaller must hold the lock (as in Java), and a
/// waiter's lease must be the only one on its hold. The lock is an InterProcessMutex or a write
/// lock, without `HandOff::cohort` and `keep_idle_for`, since a signal must prove which holder
/// gives it.
///
/// On the servers a waiter is an ephemeral sequential node below the condition's path, and a signal
/// is a persistent node. All users of a condition need the permission to read and write
/// each other's nodes, and to list, create and delete nodes at that path; nothing else may use the
/// path.
///
/// Threads: any. Lifetimes: the lock object may be destroyed first; a wait may outlive the
/// condition.

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/inter_process_lock.hpp"

namespace custodian {

/// Why a wait at a condition has ended.
enum class ConditionStatus {
  signalled,  ///< the waiter was signalled
  /// The waiter was not signalled, and the limit has not passed. For example, its session was lost,
  /// or an operator has deleted its node.
  spurious,
  timeout,  ///< the limit has passed, and no signal came before the lock was acquired
  stopped,  ///< a stop was requested, and no signal came before the lock was acquired
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(ConditionStatus status) noexcept;

/// The result of a wait: the lock, and why the wait has ended.
struct [[nodiscard]] Woken {
  /// Why the wait has ended.
  ConditionStatus status = ConditionStatus::spurious;
  /// The lock, acquired anew: the lease has a token of its own.
  Lease lease{};
};

namespace recipes_detail {
struct ConditionSpec;
using ConditionSpecPtr = std::shared_ptr<const ConditionSpec>;

CUSTODIAN_EXPORT void start_condition_wait(CorePtr core, CancellationPtr cancellation,
                                           ConditionSpecPtr condition, Lease lease, Deadline until,
                                           std::stop_token stop, Handler<Woken> handler);
CUSTODIAN_EXPORT void start_signal(CorePtr core, CancellationPtr cancellation,
                                   ConditionSpecPtr condition, Lease lease, std::size_t most,
                                   OperationOptions options, Handler<std::size_t> handler);
}  // namespace recipes_detail

/// A condition variable among processes.
/// \copydetails custodian/conditions/inter_process_condition.hpp
class CUSTODIAN_EXPORT InterProcessCondition {
 public:
  /// `lock` is the lock that the waiters and signallers hold; all users of a condition must give it
  /// the same lock. `path` is the parent of their nodes, created when it is needed. Throws Error
  /// (invalid_argument) if the path is not valid, or is the lock's path or below it; or if the lock
  /// is a read lock, or has `keep_idle_for` or a cohort in its options. Contacts no server.
  InterProcessCondition(const InterProcessLock& lock, std::string path);

  /// The parent of the waiters' nodes.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The lease face
  /// \{

  /// Releases the lock, waits for a signal, and acquires the lock again, at the end of its queue.
  /// The lease must be the only one on its hold.
  /// Completes with: error, the lock and why the wait has ended. With an error there is no new
  /// lease: the lock was released, or is about to be.
  /// Cancellation: total; the lock is released, and not acquired again. A request to cancel comes
  /// too late once the signalled waiter has the lock and takes its signal. The new lease has the
  /// terms of the lock's options: the options of the earlier acquire, its listeners, and an
  /// identity set by Lease::set_identity() end with the old hold.
  /// Errors: lock_lost (before the lock was released); invalid_argument (the lease is another
  /// lock's, or not alone on its hold); resource_deadlock_would_occur (the lease is on the read
  /// lock); node_deleted (by an operator, before the lock was released); session_timeout_too_short,
  /// no_auth, sequence_exhausted, request_too_large, operation_aborted, closed, forked. Once the
  /// lock is released, neither a lost connection nor a lost session ends the wait with an error.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Lease lease, Token&& token) const {
    return async_wait_until(std::move(lease), Deadline::never(), std::forward<Token>(token));
  }
  /// async_wait() with a limit: it waits for a signal until the deadline at most; the acquire that
  /// follows has no limit. A default deadline is never.
  template <typename Token>
  auto async_wait_until(Lease lease, Deadline until, Token&& token) const {
    return initiate<void(error_code, Woken), &recipes_detail::start_condition_wait>(
        core_, std::forward<Token>(token), condition_, std::move(lease), until, std::stop_token{});
  }
  /// async_wait_until() with a duration.
  template <typename Rep, typename Period, typename Token>
  auto async_wait_for(Lease lease, std::chrono::duration<Rep, Period> limit, Token&& token) const {
    return async_wait_until(std::move(lease), Deadline{limit}, std::forward<Token>(token));
  }

  /// The blocking form of async_wait(): `lease` is released, and is the new lease afterwards. A
  /// stop ends the wait for a signal; the lock is then acquired as after a signal. Throws Error;
  /// then `lease` is empty. If no thread runs the client's context, the function does not return,
  /// whatever the limit.
  ConditionStatus wait(Lease& lease, std::stop_token stop = {}) const {
    return wait_until(lease, Deadline::never(), std::move(stop));
  }
  /// wait() with a limit: it waits for a signal until the deadline at most; the acquire that
  /// follows has no limit.
  ConditionStatus wait_until(Lease& lease, Deadline until, std::stop_token stop = {}) const;
  /// wait_until() with a duration.
  template <typename Rep, typename Period>
  ConditionStatus wait_for(Lease& lease, std::chrono::duration<Rep, Period> limit,
                           std::stop_token stop = {}) const {
    return wait_until(lease, Deadline{limit}, std::move(stop));
  }

  /// Signals the waiter that waits longest and has no signal yet.
  /// Completes with: error, the number of waiters that were signalled: 1, or 0 if there are none.
  /// If the reply of the servers is lost, a second waiter may be signalled, too, for which the
  /// wake-up is spurious.
  /// Cancellation: total; what was sent may still be applied.
  /// Errors: lock_lost; invalid_argument (the lease is another lock's);
  /// resource_deadlock_would_occur (the lease is on the read lock); at the deadline an error that
  /// is equivalent to ErrorCondition::outcome_unknown; no_auth, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_signal(const Lease& lease, OperationOptions options, Token&& token) const {
    return signal_some(lease, 1, options, std::forward<Token>(token));
  }
  /// Signals all waiters. After an error some waiters may have been signalled: call it again. All
  /// else is as for async_signal().
  template <typename Token>
  auto async_signal_all(const Lease& lease, OperationOptions options, Token&& token) const {
    return signal_some(lease, everybody, options, std::forward<Token>(token));
  }
  /// The blocking forms of async_signal() and async_signal_all(). Return how many waiters were
  /// signalled. Throw Error.
  std::size_t signal(const Lease& lease, OperationOptions options = {}) const;
  /// \copydoc signal
  std::size_t signal_all(const Lease& lease, OperationOptions options = {}) const;
  /// \}

  /// \name The standard face: as std::condition_variable_any has it
  ///
  /// `lock` is a std::unique_lock of the condition's lock object, which this thread has locked. A
  /// wait releases all holds of the thread, and acquires as many again. Deadlines are of the steady
  /// clock. The functions throw Error: operation_not_permitted if the thread does not hold the
  /// lock, or other leases share its hold; invalid_argument for another lock object;
  /// resource_deadlock_would_occur if the thread holds the read lock, too. If a wait throws any
  /// other error, the thread has lost the lock, and must unlock it, as after any other loss.
  /// \{

  /// Waits for a signal. The wait may end without one.
  template <typename Lock>
  void wait(std::unique_lock<Lock>& lock) const {
    wait_holding(lock, Deadline::never(), {});
  }
  /// Waits until the predicate, which is called with the lock, is true.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  void wait(std::unique_lock<Lock>& lock, Predicate predicate) const {
    while (!predicate()) wait(lock);
  }
  /// Waits until the predicate is true, or until a stop is requested. Returns what the predicate
  /// returned last.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait(std::unique_lock<Lock>& lock, std::stop_token stop, Predicate predicate) const {
    return wait_until(lock, std::move(stop), Deadline::never(), std::move(predicate));
  }

  /// Waits for a signal, until the deadline at most.
  template <typename Lock>
  std::cv_status wait_until(std::unique_lock<Lock>& lock, Deadline until) const {
    const bool late = wait_holding(lock, until, {}) == ConditionStatus::timeout;
    return late ? std::cv_status::timeout : std::cv_status::no_timeout;
  }
  /// Waits until the predicate is true, and until the deadline at most. Returns what the predicate
  /// returned last.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_until(std::unique_lock<Lock>& lock, Deadline until, Predicate predicate) const {
    return wait_until(lock, std::stop_token{}, until, std::move(predicate));
  }
  /// Waits until the predicate is true or a stop is requested, and until the deadline at most.
  /// Returns what the predicate returned last.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_until(std::unique_lock<Lock>& lock, std::stop_token stop, Deadline until,
                  Predicate predicate) const {
    while (!predicate()) {
      if (stop.stop_requested() || until.passed()) return false;
      const ConditionStatus status = wait_holding(lock, until, stop);
      const bool over = status == ConditionStatus::timeout || status == ConditionStatus::stopped;
      if (over) return predicate();
    }
    return true;
  }
  /// Waits for a signal, this long at most.
  template <typename Lock, typename Rep, typename Period>
  std::cv_status wait_for(std::unique_lock<Lock>& lock,
                          std::chrono::duration<Rep, Period> limit) const {
    return wait_until(lock, Deadline{limit});
  }
  /// Waits until the predicate is true, this long at most. Returns what the predicate returned
  /// last.
  template <typename Lock, typename Rep, typename Period, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_for(std::unique_lock<Lock>& lock, std::chrono::duration<Rep, Period> limit,
                Predicate predicate) const {
    return wait_until(lock, Deadline{limit}, std::move(predicate));
  }

  /// Waits until the predicate is true or a stop is requested, this long at most. Returns what the
  /// predicate returned last.
  template <typename Lock, typename Rep, typename Period, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_for(std::unique_lock<Lock>& lock, std::stop_token stop,
                std::chrono::duration<Rep, Period> limit, Predicate predicate) const {
    return wait_until(lock, std::move(stop), Deadline{limit}, std::move(predicate));
  }

  /// Signal the waiter that waits longest, or all waiters. This thread must hold the lock by the
  /// standard face. Throw Error: operation_not_permitted if it does not, and the errors of
  /// async_signal().
  void notify_one() const;
  /// \copydoc notify_one
  void notify_all() const;
  /// \}

 private:
  static constexpr std::size_t everybody = static_cast<std::size_t>(-1);

  template <typename Token>
  auto signal_some(const Lease& lease, std::size_t most, OperationOptions options,
                   Token&& token) const {
    return initiate<void(error_code, std::size_t), &recipes_detail::start_signal>(
        core_, std::forward<Token>(token), condition_, lease.share(), most, options);
  }

  template <typename Lock>
  ConditionStatus wait_holding(std::unique_lock<Lock>& lock, Deadline until,
                               std::stop_token stop) const {
    check_holder(lock.mutex(), lock.owns_lock());
    return wait_holding(until, std::move(stop));
  }
  void check_holder(const InterProcessLock* lock, bool owns) const;
  ConditionStatus wait_holding(Deadline until, std::stop_token stop) const;
  std::size_t signal_within(std::string_view operation, Lease lease, std::size_t most,
                            OperationOptions options) const;

  CorePtr core_;
  recipes_detail::ConditionSpecPtr condition_;
  std::shared_ptr<recipes_detail::LockHolds> holds_;
};

}  // namespace custodian
