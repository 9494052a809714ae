#pragma once

/// \file
/// to_time() converts the servers' times. Pure.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace custodian::detail {

/// The time this many milliseconds after the epoch. Any number is cut to a time that the clock can
/// count, far enough from the clock's ends to be rounded to seconds.
[[nodiscard]] inline std::chrono::system_clock::time_point to_time(std::int64_t since_epoch) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  using Clock = std::chrono::system_clock;
  constexpr milliseconds latest = std::chrono::floor<seconds>(Clock::duration::max()) - seconds{1};
  return Clock::time_point{std::clamp(milliseconds{since_epoch}, -latest, latest)};
}

}  // namespace custodian::detail
