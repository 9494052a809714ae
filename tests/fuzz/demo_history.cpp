/// \file
/// The demo's history, in which each line is a hold of the lock.

#include <sstream>

#include "demo_program/history.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void demo_history(std::string_view input) {
  std::size_t lines = 0;
  std::size_t holds = 0;
  for (const std::string& line : split(input, '\n')) {
    const auto hold = demo::parse_line(line);
    if (hold) {
      const std::string written = demo::to_line(*hold);
      require(written.ends_with('\n') &&
                  demo::parse_line(written.substr(0, written.size() - 1)) == hold,
              "what is written is read as the same");
    }
    if (hold && hold->in <= hold->out) ++holds;
    ++lines;
  }
  std::istringstream history{std::string{input} + "\n"};
  const demo::Verdict verdict = demo::judge(history);
  require(verdict.holds.size() == holds && verdict.holds.size() + verdict.malformed == lines,
          "each line is a hold, or malformed");
  require(verdict.flawless() == verdict.faults.empty(), "what is wrong is said");
}

}  // namespace custodian::fuzz
