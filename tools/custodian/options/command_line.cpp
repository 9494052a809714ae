#include "options/command_line.hpp"

#include <algorithm>
#include <iterator>

namespace custodian::cli {

CommandLine split_command_line(std::vector<std::string> words) {
  CommandLine line;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    line.command.emplace(std::make_move_iterator(std::next(dashes)),
                         std::make_move_iterator(words.end()));
  }
  words.erase(dashes, words.end());
  line.ours = std::move(words);
  return line;
}

}  // namespace custodian::cli
