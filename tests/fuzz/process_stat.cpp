/// \file
/// Lines of /proc/<pid>/stat, in which each program chooses its own name. The guardian uses them to
/// find the processes that it must end.

#include "fuzz.hpp"
#include "guardian/descendants.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void process_stat(std::string_view input) {
  static_cast<void>(cli::parse_stat(input));

  for (const char state : {'S', 'Z'}) {
    std::string line{"4711 ("};
    line.append(input).append(") ").append(1, state).append(" 17 4711 4711 0 -1 4194304 0 0 0\n");
    const auto entry = cli::parse_stat(line);
    require(entry.has_value(), "whatever a program's name is, its line is read");
    require(entry->process == 4711 && entry->parent == 17 && entry->is_zombie == (state == 'Z'),
            "no name says what only the kernel says");
  }
}

}  // namespace custodian::fuzz
