#pragma once

/// \file
/// A duration option takes a duration such as 30s.

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace custodian::cli {

/// `value` must outlive the parsing. The given duration must be positive, and is rounded up.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::chrono::milliseconds& value, const std::string& description);
/// For options without a default. This overload also allows 0; add_positive_duration_option() does
/// not.
CLI::Option* add_duration_option(CLI::App& app, const std::string& name,
                                 std::optional<std::chrono::nanoseconds>& value,
                                 const std::string& description);
CLI::Option* add_positive_duration_option(CLI::App& app, const std::string& name,
                                          std::optional<std::chrono::nanoseconds>& value,
                                          const std::string& description);

}  // namespace custodian::cli
