#pragma once

/// \file
/// Invocation is what the command line asks for. Value types.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/global_options.hpp"

namespace custodian::cli {

struct Invocation {
  /// The words after the first `--`, unchanged; nothing if there was no `--`. CLI11 never sees
  /// them.
  std::optional<std::vector<std::string>> command{};
  /// Does the work, and returns the exit status. The chosen subcommand sets this function. It is
  /// called before this process has any thread, and may throw custodian::Error or UsageError.
  std::function<int(const GlobalOptions&)> run{};
  /// True if the chosen subcommand runs a command; for any other a `--` is a usage error.
  bool takes_command = false;
};

}  // namespace custodian::cli
