#pragma once

/// \file
/// CommandLine splits the command line into the words for custodian and those of the command to
/// run. Pure.

#include <optional>
#include <string>
#include <vector>

namespace custodian::cli {

struct CommandLine {
  /// The words for custodian, without the program's name.
  std::vector<std::string> ours{};
  /// The words after the first `--`; nothing if there is no `--`.
  std::optional<std::vector<std::string>> command{};
};

/// `words` is argv without the program's name.
[[nodiscard]] CommandLine split_command_line(std::vector<std::string> words);

}  // namespace custodian::cli
