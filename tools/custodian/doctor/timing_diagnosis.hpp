#pragma once

/// \file
/// The diagnosis of timing says whether a server's timeouts and ticks suit what the clients have
/// set. Pure.

#include <string>
#include <vector>

#include "doctor/diagnosis.hpp"

namespace custodian::cli {

/// A duration as findings write it: in tenths of a second, or milliseconds if it is shorter.
[[nodiscard]] std::string text_of(std::chrono::nanoseconds duration);

[[nodiscard]] std::vector<Finding> diagnose_timing(const ServerFacts& server, const Facts& facts);

}  // namespace custodian::cli
