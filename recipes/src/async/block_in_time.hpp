#pragma once

/// \file
/// block_in_time() waits for an acquire with a limit, in the caller's thread.

#include <boost/asio/error.hpp>
#include <stop_token>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/wait_limit.hpp"

namespace custodian::recipes_detail {

/// The time at which an acquire with this limit ends at the latest; WaitLimit::from_now() has made
/// the limit. A try asks the servers once, and waits for the answer for as long as any operation
/// does.
[[nodiscard]] inline Deadline end_of(const Client& client, const WaitLimit& begun) {
  return begun.try_once ? client.deadline_or_default(Deadline{}) : begun.deadline;
}

/// Throws operation_aborted if a stop was requested before the call. Without this check an acquire
/// that finds an idle node of the client would succeed before it can be cancelled.
inline void refuse_stopped(const std::stop_token& stop, std::string_view operation,
                           std::string_view path) {
  if (stop.stop_requested()) throw Error{boost::asio::error::operation_aborted, operation, path};
}

/// Starts an acquire, and waits until its limit. `Tried` says why there is no lease. Throws Error.
template <auto Start, typename Tried, typename Spec>
Tried block_in_time(const Client& client, std::string_view operation, std::string_view path,
                    Spec spec, const WaitLimit& limit, AcquireOptions options,
                    std::stop_token stop) {
  refuse_stopped(stop, operation, path);
  const WaitLimit begun = limit.from_now();
  auto outcome =
      block_until<Start, Tried>(client.core(), operation, path, std::move(stop),
                                end_of(client, begun), std::move(spec), begun, std::move(options));
  if (!outcome) {
    Tried tried;
    tried.reason = NotAcquired::context_not_run;
    return tried;
  }
  auto& [error, tried] = *outcome;
  std::string_view why;
  if constexpr (requires { tried.deadlock; }) why = tried.deadlock;
  throw_if(*client.core(), error, operation, path, why);
  return std::move(tried);
}

}  // namespace custodian::recipes_detail
