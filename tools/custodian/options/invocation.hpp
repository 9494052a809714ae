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
  /// The words behind the first `--`, as they were given; nothing if there was no `--`. CLI11 never
  /// sees them.
  std::optional<std::vector<std::string>> command{};
  /// The chosen subcommand sets it: it does the work, and returns the exit status. Called before
  /// this process has any thread. May throw custodian::Error, or UsageError.
  std::function<int(const GlobalOptions&)> run{};
  /// A subcommand that runs a command sets it, too; without it a `--` is a mistake.
  bool takes_command = false;
};

}  // namespace custodian::cli
