#pragma once

/// \file
/// CountDownLatch keeps processes waiting until a number of arrivals, of any processes, have been
/// counted. The functions are those of std::latch. Each arrival is one node, with the next number;
/// the last one opens the latch for good.
///
/// When not to use it: for arrivals that count only while their process lives (a lock, or an
/// ephemeral node each); for several rounds (a latch opens once: give each round a path of its
/// own); for more than some tens of arrivals at once, or thousands in all (arrivals at the same
/// moment are counted one after the other, and each is a node).
///
/// An arrival is counted exactly once, also when the reply to it is lost, unless the call ends with
/// an error. A waiter costs the servers one watch and gets one event, that of the last arrival.
///
/// All clients of a latch must expect the same number of arrivals. The first client writes its
/// number into the latch's node; a client with another number is refused (invalid_argument). The
/// latch's node is a container, which the servers may delete again if no arrival comes for some
/// minutes; the next arrival creates it anew. Nothing else may be created below the node.
///
/// The nodes of a latch stay until a program calls remove(): call it when no client arrives or
/// waits any more.
///
/// Threads: any. Lifetimes: a handle, which may be copied; the client may be destroyed first
/// (operations then fail with closed); an operation under way may outlive it.

#include <chrono>
#include <cstddef>
#include <cstdint>
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

struct CountDown;
using CountDownPtr = std::shared_ptr<const CountDown>;

/// Throws Error (invalid_argument) if the number is negative.
CUSTODIAN_EXPORT void check_arrivals(const CountDownPtr& latch, std::int32_t arrivals);
CUSTODIAN_EXPORT void start_count_down(CorePtr core, CancellationPtr cancellation,
                                       CountDownPtr latch, std::int32_t arrivals,
                                       OperationOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_arrive_and_wait(CorePtr core, CancellationPtr cancellation,
                                            CountDownPtr latch, std::int32_t arrivals,
                                            Handler<> handler);
CUSTODIAN_EXPORT void start_count(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                                  OperationOptions options, Handler<std::int32_t> handler);
CUSTODIAN_EXPORT void start_try_wait(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                                     OperationOptions options, Handler<bool> handler);
CUSTODIAN_EXPORT void start_wait_at_latch(CorePtr core, CancellationPtr cancellation,
                                          CountDownPtr latch, Handler<> handler);
CUSTODIAN_EXPORT void start_timed_wait_at_latch(CorePtr core, CancellationPtr cancellation,
                                                CountDownPtr latch, Deadline until,
                                                Handler<bool> handler);
CUSTODIAN_EXPORT void start_remove_latch(CorePtr core, CancellationPtr cancellation,
                                         CountDownPtr latch, OperationOptions options,
                                         Handler<> handler);

}  // namespace recipes_detail

/// Keeps processes waiting until a number of arrivals have been counted.
/// \copydetails custodian/barriers/count_down_latch.hpp
class CUSTODIAN_EXPORT CountDownLatch {
 public:
  /// The greatest number of arrivals that a latch may expect.
  [[nodiscard]] static constexpr std::int32_t max() noexcept { return 1'000'000; }

  /// `path` is the latch's node; its tickets are below. A latch that expects no arrivals is open.
  /// Throws Error (invalid_argument) if the path is not valid, or is the root, or if `expected` is
  /// negative or greater than max(). Contacts no server.
  CountDownLatch(const Client& client, std::string path, std::int32_t expected);

  /// The path of the latch's node.
  [[nodiscard]] const std::string& path() const noexcept;
  /// How many arrivals open the latch.
  [[nodiscard]] std::int32_t expected() const noexcept;

  /// \name Arriving and waiting
  /// Errors, for all: invalid_argument (other clients expect another number of arrivals),
  /// malformed_data (the node is no latch's), no_auth, and those common to all operations of a
  /// Client.
  /// \{

  /// Counts `arrivals` arrivals, all in one transaction. Arrivals beyond the number that the latch
  /// expects are not counted; at an open latch the call does nothing. A negative number throws at
  /// once (invalid_argument).
  /// Completes with: error.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: see above. After an error that is outcome_unknown, or a cancellation, the arrivals may
  /// have been counted, or may yet be counted. request_too_large: too many arrivals at once.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_count_down(std::int32_t arrivals, OperationOptions options, Token&& token) {
    recipes_detail::check_arrivals(latch_, arrivals);
    return initiate<void(error_code), &recipes_detail::start_count_down>(
        core_, std::forward<Token>(token), latch_, arrivals, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_count_down(std::int32_t arrivals, Token&& token) {
    return async_count_down(arrivals, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same for one arrival.
  template <typename Token>
  auto async_count_down(Token&& token) {
    return async_count_down(1, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void count_down(std::int32_t arrivals = 1, OperationOptions options = {});

  /// Counts `arrivals` arrivals, as async_count_down() does, but without a limit of time; then
  /// waits without limit until the latch is open, through disconnections and lost sessions.
  /// Completes with: error.
  /// Cancellation: total; the arrivals may have been counted.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_arrive_and_wait(std::int32_t arrivals, Token&& token) {
    recipes_detail::check_arrivals(latch_, arrivals);
    return initiate<void(error_code), &recipes_detail::start_arrive_and_wait>(
        core_, std::forward<Token>(token), latch_, arrivals);
  }
  /// The same for one arrival.
  template <typename Token>
  auto async_arrive_and_wait(Token&& token) {
    return async_arrive_and_wait(1, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  void arrive_and_wait(std::int32_t arrivals = 1, std::stop_token stop = {});

  /// Waits without limit until the latch is open, through disconnections and lost sessions.
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_at_latch>(
        core_, std::forward<Token>(token), latch_);
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  void wait(std::stop_token stop = {}) const;

  /// The same until a deadline, or without limit if the deadline is a default one. If the deadline
  /// has passed already, the call asks the servers once, as async_try_wait() does, and completes
  /// with false if they do not answer.
  /// Completes with: error, whether the latch was open in time.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_until(Deadline until, Token&& token) const {
    return initiate<void(error_code, bool), &recipes_detail::start_timed_wait_at_latch>(
        core_, std::forward<Token>(token), latch_, until);
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

  /// \name Looking
  /// These functions read from the server that the client is connected to, which may not have seen
  /// the newest arrivals of other clients. They look at the tickets alone: here it is no error if
  /// other clients expect another number, or if the node is no latch's. Errors, for all: no_auth,
  /// and those common to all operations of a Client.
  /// \{

  /// Whether the latch is open. The answer may be false for a moment after the last arrival.
  /// Completes with: error, whether it is open.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_try_wait(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, bool), &recipes_detail::start_try_wait>(
        core_, std::forward<Token>(token), latch_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_wait(Token&& token) const {
    return async_try_wait(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] bool try_wait(OperationOptions options = {}) const;

  /// How many arrivals are missing; 0 if the latch is open. The number may be out of date when it
  /// arrives.
  /// Completes with: error, the number.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_count(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::int32_t), &recipes_detail::start_count>(
        core_, std::forward<Token>(token), latch_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_count(Token&& token) const {
    return async_count(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] std::int32_t count(OperationOptions options = {}) const;
  /// \}

  /// Removes the latch's nodes, one by one. Does nothing if there are none. Arrivals that are under
  /// way may create nodes anew, and a wait for missing arrivals goes on.
  /// Completes with: error.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: no_auth, and those common to all operations of a Client.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_remove(OperationOptions options, Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_remove_latch>(
        core_, std::forward<Token>(token), latch_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_remove(Token&& token) {
    return async_remove(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void remove(OperationOptions options = {});

 private:
  CorePtr core_;
  recipes_detail::CountDownPtr latch_;
};

}  // namespace custodian
