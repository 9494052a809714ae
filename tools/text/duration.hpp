#pragma once

/// \file
/// Durations are read and written here as people write them. Pure.

#include <chrono>
#include <string>
#include <string_view>

namespace custodian::cli {

/// "500ms", "30s", "5m", "1h30m", "1.5s": numbers, each with its unit (d, h, m, s, ms, us, ns),
/// from the greatest unit to the smallest. "0" alone needs none. Throws std::invalid_argument, with
/// a message for the author of the text: if a unit is missing or unknown, or if it is longer than
/// 100 years.
[[nodiscard]] std::chrono::nanoseconds parse_duration(std::string_view text);

/// In the units that parse_duration() reads, as short as it is exact: "1h30m", "1.5s", "0s".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace custodian::cli
