#pragma once

/// \file
/// Options whose value is a duration.

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace custodian::cli {

/// `value` must outlive the parsing. The given duration must be positive, and is rounded up.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::chrono::milliseconds& value, const std::string& description);
/// For an option without a default; 0 is allowed.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::optional<std::chrono::nanoseconds>& value,
                                 const std::string& description);

}  // namespace custodian::cli
