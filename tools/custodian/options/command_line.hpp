#pragma once

/// \file
/// The words of the command line: ours, and those of the command that is to be run. Pure.

#include <optional>
#include <string>
#include <vector>

namespace custodian::cli {

struct CommandLine {
  /// Without the program's name.
  std::vector<std::string> ours{};
  /// What stands behind the first `--`; nothing if there is none.
  std::optional<std::vector<std::string>> command{};
};

/// `words` is argv without the program's name.
[[nodiscard]] CommandLine split_command_line(std::vector<std::string> words);

}  // namespace custodian::cli
