#pragma once

/// \file
/// What the command line asks for. Value types.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/global_options.hpp"

namespace custodian::cli {

struct Invocation {
  /// What stood behind the first `--`, word by word as it was given; nothing if there was no `--`.
  /// CLI11 never sees it.
  std::optional<std::vector<std::string>> command{};
  /// Set by the subcommand when it was chosen: does the work, and returns the exit status. Called
  /// before this process has any thread. May throw custodian::Error, or UsageError.
  std::function<int(const GlobalOptions&)> run{};
  /// Set by the subcommand, too, if it runs a command; otherwise a `--` is a mistake.
  bool takes_command = false;
};

}  // namespace custodian::cli
