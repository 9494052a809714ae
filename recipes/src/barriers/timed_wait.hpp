#pragma once

/// \file
/// The waits of barriers and latches that have a limit, and return false when they are late.

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <functional>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <utility>

#include "async/end_of_wait.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/time_limit.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"

namespace custodian::recipes_detail {

/// Awaits `work(cancellation)`, a coroutine without a value, and returns whether it ended before
/// the deadline.
template <typename Work>
boost::asio::awaitable<Result<bool>> in_time(CorePtr core, CancellationPtr callers, Deadline until,
                                             Work work) {
  const auto strand = co_await boost::asio::this_coro::executor;
  const TimeLimit limit{core, strand, until, std::move(callers)};
  const CancellationPtr& cancellation = limit.cancellation();
  const Result<void> ended = co_await work(cancellation);
  if (ended) co_return true;
  if (limit.has_ended(ended.error())) co_return false;
  co_return failed<bool>(ended.error());
}

/// As in_time(), for a wait that has a node of its own on the servers, such as an arrival. If the
/// caller gives up, or the deadline passes, the coroutine `take_back(options)` is awaited. It
/// returns true if it is too late to take the node back: then the wait has succeeded. It has one
/// operation's time, besides the time that awaited_create() may take. If the deadline has passed
/// already, the result is false at once.
template <typename Work, typename TakeBack>
boost::asio::awaitable<Result<bool>> unless_taken_back(Client client, CancellationPtr callers,
                                                       Deadline until, Work work,
                                                       TakeBack take_back) {
  if (until.passed()) co_return false;
  const CorePtr& core = client.core();
  Result<bool> ended = co_await in_time(core, std::move(callers), until, work);
  const bool is_over = ended ? *ended : ended.error() != boost::asio::error::operation_aborted;
  if (is_over) co_return ended;
  const OperationOptions options{client.deadline_or_default(Deadline{})};
  const Result<bool> is_too_late = co_await take_back(options);
  if (is_too_late && *is_too_late) co_return true;
  if (is_too_late) co_return ended;
  // The servers may not know yet that the node was given up: it may exist, and be counted.
  const bool is_unknown = is_too_late.error() == ErrorCondition::retryable;
  co_return failed<bool>(is_unknown ? make_error_code(Errc::deadline_exceeded_outcome_unknown)
                                    : is_too_late.error());
}

/// The name of a blocking call, for its errors.
struct BlockingCall {
  std::string_view operation;
  std::string_view path;
  /// What invalid_argument means here, and what to do about it.
  std::string_view misuse{};
};

/// Throws the error of a blocking call, if there is one.
inline void throw_error_of(const CorePtr& core, error_code error, const BlockingCall& call) {
  const bool is_misuse = error == Errc::invalid_argument;
  custodian::throw_if(*core, error, call.operation, call.path,
                      is_misuse ? call.misuse : std::string_view{});
}

/// Starts an operation, blocks without a limit until it ends, and drops its result. Throws Error.
template <auto Start, typename... Results, typename... Arguments>
void block_for_good(const CorePtr& core, const BlockingCall& call, std::stop_token stop,
                    Arguments... arguments) {
  const auto ended = block<Start, Results...>(core, call.operation, call.path, std::move(stop),
                                              std::move(arguments)...);
  throw_error_of(core, std::get<0>(ended), call);
}

/// Starts a wait, and blocks until it ends. Returns false if the deadline passes first, also if no
/// thread runs the client's context. A wait whose deadline has passed when it begins may ask the
/// servers once, and wait for the answer as long as any operation does. Throws Error.
template <auto Start, typename... Arguments>
bool block_in_time_for(const Client& client, const BlockingCall& call, std::stop_token stop,
                       Deadline until, Arguments... arguments) {
  const auto ended =
      block_until<Start, bool>(client.core(), call.operation, call.path, std::move(stop),
                               end_of_wait(client, until), std::move(arguments)..., until);
  if (!ended) return false;
  const auto& [error, is_over] = *ended;
  throw_error_of(client.core(), error, call);
  return is_over;
}

/// As block_in_time_for(), for a wait that is taken back when it is late, which takes at most twice
/// an operation's time. Throws deadline_exceeded_outcome_unknown if it has not ended by then,
/// because no thread runs the client's context.
template <auto Start, typename... Arguments>
bool block_unless_taken_back(const Client& client, const BlockingCall& call, std::stop_token stop,
                             Deadline until, Arguments... arguments) {
  const Deadline limit = until.or_default(Deadline::never());
  const auto now = Deadline::Clock::now();
  const auto once = client.deadline_or_default(Deadline{}).remaining(now);
  const auto late = std::max(limit.time_point(), now);
  const bool has_end = late < Deadline::Clock::time_point::max() - once - once;
  const Deadline end = has_end ? Deadline{late + once + once} : Deadline::never();
  const auto [error, is_over] = block_in_time<Start, bool>(
      client.core(), call.operation, call.path, std::move(stop),
      {end, Errc::deadline_exceeded_outcome_unknown}, std::move(arguments)..., until);
  throw_error_of(client.core(), error, call);
  return is_over;
}

}  // namespace custodian::recipes_detail
