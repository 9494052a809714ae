#pragma once

/// \file
/// A fair lock that processes on different machines share: Apache Curator's InterProcessMutex, and
/// compatible with it on the wire.
///
/// Each contender creates an ephemeral sequential node below the lock's path; the lowest number
/// holds the lock, and each other waits for the one before it to go. So a release wakes one waiter,
/// the order is that of arrival, and the lock of a process that dies passes on when its session
/// times out.
///
/// When not to use it: inside one process (std::mutex is a thousand times faster); for work that
/// must never run twice, whatever happens (a holder that is stopped or cut off may believe in a
/// lock that has passed on: let the resource check Lease::token()); for thousands of acquires a
/// second.
///
/// Two faces. The *lease face* hands out a Lease: the object owns the lock, so it may travel
/// between threads and coroutines. The *standard face* is that of std::recursive_timed_mutex: the
/// thread owns the lock, and std::scoped_lock and std::unique_lock work. Both stand in the same
/// queue.
///
/// Threads: any. Lifetimes: the client may go first (acquires then fail with closed); a lease or a
/// waiting acquire may outlive the mutex object.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/lease.hpp"
#include "custodian/recipes/acquire.hpp"

namespace custodian {

struct MutexOptions {
  /// The data of this lock's nodes, for people who look at them. Empty: the client's identity.
  std::string identity{};
  /// The terms of this lock's leases, on the standard face, too.
  LeaseOptions lease{};
};

namespace recipes_detail {
struct Queue;
class ThreadHolds;
using QueuePtr = std::shared_ptr<const Queue>;

void start_acquire(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                   QueuePtr queue, AcquireOptions options, Handler<Lease> handler);
void start_try_acquire(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                       QueuePtr queue, AcquireOptions options, Handler<AcquireResult> handler);
void start_try_acquire_until(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                             QueuePtr queue, Deadline deadline, AcquireOptions options,
                             Handler<AcquireResult> handler);
void start_participants(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                        QueuePtr queue, OperationOptions options,
                        Handler<std::vector<Participant>> handler);
void start_queue_length(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                        QueuePtr queue, OperationOptions options, Handler<std::size_t> handler);
}  // namespace recipes_detail

class InterProcessMutex {
 public:
  /// `path` is the parent of the contenders' nodes; it is created, as a container, when it is
  /// needed. Throws Error (invalid_argument) if it is not a valid path. Contacts no server.
  InterProcessMutex(const Client& client, std::string path, MutexOptions options = {});
  InterProcessMutex(const InterProcessMutex&) = delete;
  InterProcessMutex& operator=(const InterProcessMutex&) = delete;
  /// Threads must not hold it by the standard face any more; what they held is released.
  ~InterProcessMutex();

  [[nodiscard]] const std::string& path() const noexcept;

  // -- The lease face -----------------------------------------------------------------------------
  //
  // Errors, for all: closed (or closing), no_auth, invalid_argument (a maximum time that is not
  // positive), session_timeout_too_short, session_lost (with RequeuePolicy::fail),
  // node_deleted (an operator removed the waiter's node), sequence_exhausted, malformed_contender,
  // operation_aborted, and what the server says. An acquire that ends without a lease leaves no
  // node, whenever and however it ends.

  /// Waits for the lock, without limit: through disconnections, and through a lost session unless
  /// told otherwise. `stop` ends it with operation_aborted. Throws resource_deadlock_would_occur if
  /// this thread holds the lock by the standard face, for then it would wait for itself.
  [[nodiscard]] Lease acquire(std::stop_token stop = {}, AcquireOptions options = {});

  /// Another lease on the hold that `lease` is a lease on: re-entry by name. Does not ask the
  /// server. Throws lock_lost if it is not held any more, invalid_argument if it is another lock's.
  [[nodiscard]] Lease acquire(const Lease& lease) const;

  /// Takes the lock if nobody holds it or waits for it. Without a connection it throws
  /// not_connected at once; connection_loss if that fails in the midst of it: it asks only once.
  [[nodiscard]] AcquireResult try_acquire(AcquireOptions options = {});

  /// Waits until the deadline, or for so long: `try_acquire_for(2s)`. Coming late is no error; not
  /// even having stood in the queue by then is one (deadline_exceeded). With a deadline that has
  /// passed, or no time to wait, it is try_acquire().
  [[nodiscard]] AcquireResult try_acquire_until(Deadline deadline, std::stop_token stop = {},
                                                AcquireOptions options = {});
  [[nodiscard]] AcquireResult try_acquire_for(std::chrono::nanoseconds wait,
                                              std::stop_token stop = {},
                                              AcquireOptions options = {}) {
    return try_acquire_until(Deadline{wait}, std::move(stop), std::move(options));
  }

  /// The same three, for any completion token.
  /// Completes with: error, lease; error, AcquireResult.
  /// Cancellation: total. A lease that comes too late for it is released again.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, Lease), &recipes_detail::start_acquire>(
        core_, std::forward<Token>(token), queue_, std::move(options));
  }
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  template <typename Token>
  auto async_try_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, AcquireResult), &recipes_detail::start_try_acquire>(
        core_, std::forward<Token>(token), queue_, std::move(options));
  }
  template <typename Token>
  auto async_try_acquire(Token&& token) {
    return async_try_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, AcquireOptions options, Token&& token) {
    return initiate<void(error_code, AcquireResult), &recipes_detail::start_try_acquire_until>(
        core_, std::forward<Token>(token), queue_, deadline, std::move(options));
  }
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, Token&& token) {
    return async_try_acquire_until(deadline, AcquireOptions{}, std::forward<Token>(token));
  }
  template <typename Token>
  auto async_try_acquire_for(std::chrono::nanoseconds wait, Token&& token) {
    return async_try_acquire_until(Deadline{wait}, std::forward<Token>(token));
  }

  // -- The standard face: TimedLockable, re-entrant per thread ------------------------------------

  /// Throws Error as acquire() does; and lock_lost if this thread holds the lock but has lost it:
  /// unlock first.
  void lock();
  [[nodiscard]] bool try_lock();
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_until(Deadline{wait});
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_until(Deadline{time - Clock::now()});
  }
  [[nodiscard]] bool try_lock_until(Deadline deadline);
  /// Gives back one hold; the last one releases the lock. Quiet if the lock was lost meanwhile,
  /// since it runs in destructors. Throws Error (operation_not_permitted) on a thread that does not
  /// hold it.
  void unlock();

  /// The lease behind this thread's hold, shared: for its token, its state, and to be told of its
  /// loss. Empty if this thread has locked nothing. Keeps the lock until it is released, too.
  [[nodiscard]] Lease current_lease() const;
  /// Whether this thread has locked it, and has not lost it.
  [[nodiscard]] bool is_held_by_this_thread() const;
  /// How often this thread would have to unlock().
  [[nodiscard]] int hold_count() const;

  // -- Introspection ------------------------------------------------------------------------------

  /// The queue in order, the holder first, whoever they are. A look at the past when it arrives.
  /// Completes with: error, the participants.
  /// Cancellation: total.
  /// Errors: no_auth, deadline_exceeded, operation_aborted, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_participants>(core_, std::forward<Token>(token), queue_,
                                                         options);
  }
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// How many hold it or wait for it. Otherwise as async_participants().
  template <typename Token>
  auto async_queue_length(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::size_t), &recipes_detail::start_queue_length>(
        core_, std::forward<Token>(token), queue_, options);
  }
  [[nodiscard]] std::size_t queue_length(OperationOptions options = {}) const;

 private:
  std::shared_ptr<detail::ClientCore> core_;
  recipes_detail::QueuePtr queue_;
  std::unique_ptr<recipes_detail::ThreadHolds> holds_;
};

}  // namespace custodian
