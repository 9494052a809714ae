#pragma once

/// \file
/// The time since a call, for retry policies. Pure.

#include <chrono>

namespace custodian::recipes_detail {

/// The time since `called`, in the unit of RetryAttempt.
[[nodiscard]] inline std::chrono::milliseconds elapsed_since(
    std::chrono::steady_clock::time_point called) {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - called);
}

}  // namespace custodian::recipes_detail
