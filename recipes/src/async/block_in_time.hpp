#pragma once

/// \file
/// How a blocking acquire with a limit waits.

#include <stop_token>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian::recipes_detail {

/// When an acquire ends at the latest. One without time to wait asks the servers once, and they get
/// as long as any operation.
[[nodiscard]] inline Deadline end_of(const Client& client, Deadline deadline) {
  const bool no_time = deadline.is_default() || deadline.passed();
  return no_time ? client.deadline_or_default(Deadline{}) : deadline;
}

/// Starts it, and waits until `end` at the latest. `Result` says why there is no lease. Throws
/// Error.
template <auto Start, typename Result, typename... Arguments>
Result block_in_time(const Client& client, std::string_view operation, std::string_view path,
                     std::stop_token stop, Deadline end, Arguments... arguments) {
  auto outcome = block_until<Start, Result>(client.core(), operation, path, std::move(stop), end,
                                            std::move(arguments)...);
  if (!outcome) {
    Result result;
    result.reason = NotAcquired::context_not_run;
    return result;
  }
  auto& [error, result] = *outcome;
  throw_if(*client.core(), error, operation, path);
  return std::move(result);
}

}  // namespace custodian::recipes_detail
