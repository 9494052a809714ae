#pragma once

/// \file
/// CommandLine divides the words of the command line: ours, and those of the command to run. Pure.

#include <optional>
#include <string>
#include <vector>

namespace custodian::cli {

struct CommandLine {
  /// Without the program's name.
  std::vector<std::string> ours{};
  /// The words behind the first `--`; nothing if there is none.
  std::optional<std::vector<std::string>> command{};
};

/// `words` is argv without the program's name.
[[nodiscard]] CommandLine split_command_line(std::vector<std::string> words);

}  // namespace custodian::cli
