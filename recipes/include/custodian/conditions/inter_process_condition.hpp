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
/// whose process dies, whose session is lost, or that gives up, goes to the next waiter. The first
/// to wait is the first to be signalled; it then queues for the lock, at the end. A wait may end
/// without a signal (*spurious*), as with the standard's: so wait with a predicate, or in a loop.
///
/// When not to use it: to wait for one node (Watch), for a number of processes to arrive
/// (CountDownLatch), or for work to hand out to thousands (a wait costs five writes). What is
/// signalled must be kept where all can read it, on the servers or in a database, and be read
/// under the lock. A process that dies *after* its wait has returned takes its signal along: where
/// the work must go on, a holder looks at the predicate before it waits, and notify_all() wakes
/// everybody.
///
/// Not in the standard's: the signaller holds the lock (as in Java), and the lock must not be held
/// by further leases. The lock is an InterProcessMutex or a write lock, without
/// `HandOff::cohort` and `keep_idle_for`, since a signal must prove which holder gives it.
///
/// On the servers: a waiter is an ephemeral sequential node below the condition's path, a signal is
/// a persistent one. All users of a condition need the permission to read and write each other's
/// nodes, and to list, create and delete nodes at that path; the path is the condition's own.
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

/// Why a wait at a condition has ended, with the lock.
enum class ConditionStatus {
  signalled,  ///< it was signalled
  /// It was not, and the limit has not passed: its session was lost, say, or a signal was in doubt.
  spurious,
  timeout,  ///< the limit has passed, and no signal came before the lock was acquired
  stopped,  ///< a stop was requested, and no signal came before the lock was acquired
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(ConditionStatus status) noexcept;

/// The result of a wait: the lock, and why the wait has ended.
struct [[nodiscard]] Woken {
  /// Why it has ended.
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
  /// `lock` is the lock that its waiters and signallers hold; `path` the parent of their nodes,
  /// created when it is needed. All users of a condition give it the same lock. Throws Error
  /// (invalid_argument) if the path is not a valid one, or at or below the lock's; if the lock is a
  /// read lock, or is kept, or belongs to a cohort. Contacts no server.
  InterProcessCondition(const InterProcessLock& lock, std::string path);

  /// The parent of the waiters' nodes.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The lease face
  /// \{

  /// Releases the lock, waits for a signal, and acquires the lock again, at the end of its queue.
  /// The lease must be the only one on its hold.
  /// Completes with: error, the lock and why the wait has ended. With an error there is no lock:
  /// it was released, or is about to be.
  /// Cancellation: total; the lock is released, and not acquired again. While a wait that has been
  /// signalled takes its signal, with the lock, a request to cancel comes too late.
  /// The new lease has the lock's terms: options of the first acquire, listeners and an identity
  /// that was set end with the old hold.
  /// Errors: lock_lost (before the lock was released); invalid_argument (the lease is another
  /// lock's, or not alone on its hold); resource_deadlock_would_occur (it is on the read lock);
  /// node_deleted (by hand, before the lock was released); session_timeout_too_short, no_auth,
  /// sequence_exhausted, request_too_large, operation_aborted, closed, forked. Once the lock is
  /// released, neither a lost connection nor a lost session ends the wait with an error.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Lease lease, Token&& token) const {
    return async_wait_until(std::move(lease), Deadline::never(), std::forward<Token>(token));
  }
  /// The same, no longer than until the deadline; the acquire that follows has no limit. A default
  /// deadline is never.
  template <typename Token>
  auto async_wait_until(Lease lease, Deadline until, Token&& token) const {
    return initiate<void(error_code, Woken), &recipes_detail::start_condition_wait>(
        core_, std::forward<Token>(token), condition_, std::move(lease), until, std::stop_token{});
  }
  /// The same for this long.
  template <typename Rep, typename Period, typename Token>
  auto async_wait_for(Lease lease, std::chrono::duration<Rep, Period> limit, Token&& token) const {
    return async_wait_until(std::move(lease), Deadline{limit}, std::forward<Token>(token));
  }

  /// The same, blocking: `lease` is released, and is the new lease afterwards. A stop ends the
  /// sleep, and the lock is acquired all the same. Throws Error; then `lease` is empty. If no
  /// thread runs the client's context it does not return, whatever the limit.
  ConditionStatus wait(Lease& lease, std::stop_token stop = {}) const {
    return wait_until(lease, Deadline::never(), std::move(stop));
  }
  /// The same, no longer than until the deadline; the acquire that follows has no limit.
  ConditionStatus wait_until(Lease& lease, Deadline until, std::stop_token stop = {}) const;
  /// The same for this long.
  template <typename Rep, typename Period>
  ConditionStatus wait_for(Lease& lease, std::chrono::duration<Rep, Period> limit,
                           std::stop_token stop = {}) const {
    return wait_until(lease, Deadline{limit}, std::move(stop));
  }

  /// Signals the waiter that waits longest and has no signal yet.
  /// Completes with: error, the number of waiters that were signalled: 1, or 0 if nobody waits.
  /// If the reply of the servers is lost, another waiter may be signalled, too, whose wait is
  /// spurious then.
  /// Cancellation: total; what was sent may still be applied.
  /// Errors: lock_lost; invalid_argument (the lease is another lock's);
  /// resource_deadlock_would_occur (it is on the read lock); an error that is equivalent to
  /// ErrorCondition::outcome_unknown at the deadline; no_auth, and those common to all
  /// operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_signal(const Lease& lease, OperationOptions options, Token&& token) const {
    return signal_some(lease, 1, options, std::forward<Token>(token));
  }
  /// Signals all that wait. After an error some may have been signalled: repeat it. All else is as
  /// for async_signal().
  template <typename Token>
  auto async_signal_all(const Lease& lease, OperationOptions options, Token&& token) const {
    return signal_some(lease, everybody, options, std::forward<Token>(token));
  }
  /// The same, blocking. Return how many waiters were signalled. Throw Error.
  std::size_t signal(const Lease& lease, OperationOptions options = {}) const;
  /// \copydoc signal
  std::size_t signal_all(const Lease& lease, OperationOptions options = {}) const;
  /// \}

  /// \name The standard face: as std::condition_variable_any has it
  ///
  /// `lock` is a std::unique_lock of the condition's lock object, which this thread has locked; all
  /// holds of the thread are released, and acquired again. A deadline is one of the steady clock.
  /// Throw Error: operation_not_permitted if the thread does not hold the lock, or other leases
  /// share its hold; invalid_argument for another lock object; resource_deadlock_would_occur if the
  /// thread holds the read lock, too. If a wait throws anything else, the thread has lost the lock,
  /// and must unlock it, as after any other loss.
  /// \{

  /// Waits for a signal; may end without one.
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
  /// The same; or until a stop is requested. Returns what the predicate says then.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait(std::unique_lock<Lock>& lock, std::stop_token stop, Predicate predicate) const {
    return wait_until(lock, std::move(stop), Deadline::never(), std::move(predicate));
  }

  /// Waits for a signal, no longer than until the deadline.
  template <typename Lock>
  std::cv_status wait_until(std::unique_lock<Lock>& lock, Deadline until) const {
    const bool late = wait_holding(lock, until, {}) == ConditionStatus::timeout;
    return late ? std::cv_status::timeout : std::cv_status::no_timeout;
  }
  /// Waits until the predicate is true, no longer than until the deadline. Returns what the
  /// predicate says then.
  template <typename Lock, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_until(std::unique_lock<Lock>& lock, Deadline until, Predicate predicate) const {
    return wait_until(lock, std::stop_token{}, until, std::move(predicate));
  }
  /// The same; or until a stop is requested.
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
  /// Waits until the predicate is true, this long at most. Returns what the predicate says then.
  template <typename Lock, typename Rep, typename Period, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_for(std::unique_lock<Lock>& lock, std::chrono::duration<Rep, Period> limit,
                Predicate predicate) const {
    return wait_until(lock, Deadline{limit}, std::move(predicate));
  }

  /// Waits until the predicate is true, this long at most, or until a stop is requested. Returns
  /// what the predicate says then.
  template <typename Lock, typename Rep, typename Period, typename Predicate>
  requires std::predicate<Predicate&>
  bool wait_for(std::unique_lock<Lock>& lock, std::stop_token stop,
                std::chrono::duration<Rep, Period> limit, Predicate predicate) const {
    return wait_until(lock, std::move(stop), Deadline{limit}, std::move(predicate));
  }

  /// Signals the waiter that waits longest, or all. This thread must hold the lock by the standard
  /// face. Throw Error: operation_not_permitted if it does not; those of async_signal().
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
