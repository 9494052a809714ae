#pragma once

/// \file
/// The waits with a limit of barriers and latches: a late one returns false.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <functional>
#include <stop_token>
#include <string_view>
#include <utility>

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
  const CancellationPtr cancellation = limit.cancellation();
  const Result<void> ended = co_await work(cancellation);
  if (ended) co_return true;
  if (limit.has_ended(ended.error())) co_return false;
  co_return failed<bool>(ended.error());
}

/// Starts a wait, and blocks until it ends. False if it is late, or if no thread runs the client's
/// context. A wait whose deadline has passed when it begins asks the servers once, and waits for
/// the answer as long as any operation does. Throws Error.
template <auto Start, typename... Arguments>
bool block_in_time_for(const Client& client, std::string_view operation, std::string_view path,
                       std::stop_token stop, Deadline until, Arguments... arguments) {
  const Deadline end =
      until.passed() ? client.deadline_or_default(Deadline{}) : until.or_default(Deadline::never());
  const auto ended = block_until<Start, bool>(client.core(), operation, path, std::move(stop), end,
                                              std::move(arguments)..., until);
  if (!ended) return false;
  const auto& [error, is_over] = *ended;
  throw_if(*client.core(), error, operation, path);
  return is_over;
}

}  // namespace custodian::recipes_detail
