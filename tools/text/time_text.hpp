#pragma once

/// \file
/// These functions format times and ages for people and programs. Pure.

#include <chrono>
#include <string>

namespace custodian::cli {

/// Formats a time as "2026-11-22T04:00:01.250Z".
[[nodiscard]] std::string iso_time(std::chrono::system_clock::time_point time);

/// Formats a time for people: "2026-11-22 04:00:01Z".
[[nodiscard]] std::string plain_time(std::chrono::system_clock::time_point time);

/// Formats an age in at most two units: "12s", "3m5s", "2h10m", "5d3h". The text is "0s" for a
/// negative age, which happens where clocks differ.
[[nodiscard]] std::string age_text(std::chrono::system_clock::duration age);

}  // namespace custodian::cli
