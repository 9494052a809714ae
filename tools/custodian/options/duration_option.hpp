#pragma once

/// \file
/// A duration option takes a duration such as 30s.

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace custodian::cli {

/// Adds an option whose duration must be positive, and is rounded up. `value` must outlive the
/// parsing.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::chrono::milliseconds& value, const std::string& description);
/// Adds an option without a default. Here the duration may be 0, which
/// add_positive_duration_option() does not allow.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::optional<std::chrono::nanoseconds>& value,
                                 const std::string& description);
CLI::Option* add_positive_duration_option(CLI::App& app, const std::string& name,
                                          std::optional<std::chrono::nanoseconds>& value,
                                          const std::string& description);

}  // namespace custodian::cli
