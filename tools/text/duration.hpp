#pragma once

/// \file
/// Durations are read and written here as people write them. Pure.

#include <chrono>
#include <string>
#include <string_view>

namespace custodian::cli {

/// Parses "500ms", "30s", "5m", "1h30m", "1.5s": numbers, each with its unit (d, h, m, s, ms, us,
/// ns), from the largest unit to the smallest. "0" alone needs no unit. Throws
/// std::invalid_argument, with a message for the author of the text, if a unit is missing or
/// unknown, or if the duration is longer than 100 years.
[[nodiscard]] std::chrono::nanoseconds parse_duration(std::string_view text);

/// The shortest exact text in the units of parse_duration(): "1h30m", "1.5s", "0s".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace custodian::cli
