#pragma once

/// \file
/// DistributedBarrier keeps processes waiting until one of them, or an operator, removes it: Apache
/// Curator's class of this name, and compatible with it, and with kazoo's Barrier, on the wire. The
/// barrier is one node: it is set (closed) while the node exists.
///
/// When not to use it: to admit one process at a time (InterProcessMutex), or N
/// (InterProcessSemaphore); for a barrier that should end with the process that has set it, since
/// the node is persistent.
///
/// A wait ends once the barrier was open (not set) at some moment since the wait's first look,
/// however briefly: even if it was removed and set again between two looks, during a disconnection,
/// or while the waiter had lost its session. A server that lags behind does not end a wait. A
/// waiter costs the servers one watch, and the removal notifies each waiter once.
///
/// Threads: any. Lifetimes: a handle, which may be copied; the client may be destroyed first
/// (operations then fail with closed); an operation under way may outlive it.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

namespace recipes_detail {

struct Barrier;
using BarrierPtr = std::shared_ptr<const Barrier>;

CUSTODIAN_EXPORT void start_set_barrier(CorePtr core, CancellationPtr cancellation,
                                        BarrierPtr barrier, OperationOptions options,
                                        Handler<> handler);
CUSTODIAN_EXPORT void start_remove_barrier(CorePtr core, CancellationPtr cancellation,
                                           BarrierPtr barrier, OperationOptions options,
                                           Handler<> handler);
CUSTODIAN_EXPORT void start_is_set(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                                   OperationOptions options, Handler<bool> handler);
CUSTODIAN_EXPORT void start_wait_at_barrier(CorePtr core, CancellationPtr cancellation,
                                            BarrierPtr barrier, Handler<> handler);
CUSTODIAN_EXPORT void start_timed_wait_at_barrier(CorePtr core, CancellationPtr cancellation,
                                                  BarrierPtr barrier, Deadline until,
                                                  Handler<bool> handler);

}  // namespace recipes_detail

/// Keeps processes waiting until it is removed.
/// \copydetails custodian/barriers/distributed_barrier.hpp
class CUSTODIAN_EXPORT DistributedBarrier {
 public:
  /// `path` is the node itself. Throws Error (invalid_argument) if it is not a valid path, or the
  /// root. Contacts no server.
  DistributedBarrier(const Client& client, std::string path);

  /// The path of the node itself.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Setting and removing
  /// \{

  /// Sets the barrier: creates the node, and containers above it. Does nothing if it is set.
  /// Completes with: error.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: no_auth, and those common to all operations of a Client. A lost reply leaves the
  /// outcome unknown (connection_loss, deadline_exceeded_outcome_unknown): the create is not
  /// repeated, since a repeated create might set a barrier again that another client has removed.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_set(OperationOptions options, Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_set_barrier>(
        core_, std::forward<Token>(token), barrier_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_set(Token&& token) {
    return async_set(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void set(OperationOptions options = {});

  /// Removes the barrier: deletes the node. Does nothing if it is not set.
  /// Completes with: error.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: no_auth, not_empty (the node has children), and those common to all operations of a
  /// Client. A lost reply leaves the outcome unknown, as with set(): the delete is not repeated,
  /// since a repeated delete might remove a barrier that another client has set since.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_remove(OperationOptions options, Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_remove_barrier>(
        core_, std::forward<Token>(token), barrier_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_remove(Token&& token) {
    return async_remove(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void remove(OperationOptions options = {});
  /// \}

  /// \name Waiting
  /// Errors, for all: no_auth, and those common to all operations of a Client.
  /// \{

  /// Whether the barrier is set. The answer is not older than the call.
  /// Completes with: error, whether it is set.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_is_set(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, bool), &recipes_detail::start_is_set>(
        core_, std::forward<Token>(token), barrier_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_is_set(Token&& token) const {
    return async_is_set(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] bool is_set(OperationOptions options = {}) const;

  /// Waits without limit until the barrier is not set, through disconnections and lost sessions.
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_at_barrier>(
        core_, std::forward<Token>(token), barrier_);
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  void wait(std::stop_token stop = {}) const;

  /// The same until a deadline, or without limit if the deadline is a default one. If the deadline
  /// has passed already, the call asks the servers once, as async_is_set() does, and completes with
  /// false if they do not answer.
  /// Completes with: error, whether the wait has ended in time, since the barrier was open.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_until(Deadline until, Token&& token) const {
    return initiate<void(error_code, bool), &recipes_detail::start_timed_wait_at_barrier>(
        core_, std::forward<Token>(token), barrier_, until);
  }
  /// The same with a duration.
  template <typename Token>
  auto async_wait_for(std::chrono::nanoseconds time, Token&& token) const {
    return async_wait_until(Deadline{time}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted. If no thread runs the
  /// client's context, the call returns false a tenth of a second after the deadline; if the
  /// deadline has passed already, a tenth of a second after `ClientOptions::operation_timeout`.
  [[nodiscard]] bool wait_until(Deadline until, std::stop_token stop = {}) const;
  /// The same with a duration.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time, std::stop_token stop = {}) const {
    return wait_until(Deadline{time}, std::move(stop));
  }
  /// \}

 private:
  CorePtr core_;
  recipes_detail::BarrierPtr barrier_;
};

}  // namespace custodian
