/// \file
/// The histories of a chaos run's processes, and their judge: a judge that can be confused proves
/// nothing. The first character of a line names the process: 'd' is the driver, any other a worker.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "chaos/judge.hpp"
#include "chaos/report.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using chaos::History;

/// The lines of each process; 'd' is the driver.
using Files = std::map<char, std::vector<std::string>>;

std::string file_name(char process) {
  return process == 'd' ? "driver" : std::string{"worker-"} + process;
}

History read(const Files& files) {
  History history;
  for (const auto& [process, lines] : files) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    std::istringstream stream{text};
    if (process == 'd') {
      chaos::read_driver(stream, history);
    } else {
      chaos::read_worker(stream, std::string{process}, history);
    }
  }
  return history;
}

/// Checks that each malformed place names a line of a file, and that no line is named twice.
void check_malformed(const Files& files, const History& history) {
  std::set<std::string> lines_with_place;
  for (const auto& [process, lines] : files) {
    for (std::size_t i = 0; i != lines.size(); ++i) {
      lines_with_place.insert(file_name(process) + ":" + std::to_string(i + 1) + ": " + lines[i]);
    }
  }
  for (const std::string& place : history.malformed) {
    require(lines_with_place.erase(place) == 1, "what is malformed is a line, and named once");
  }
}

}  // namespace

void chaos_history(std::string_view input) {
  Files files;
  for (const std::string& line : split(input, '\n')) {
    if (!line.empty()) files[line.front()].push_back(line.substr(1));
  }
  const History history = read(files);
  check_malformed(files, history);
  const chaos::Verdict verdict = chaos::judge(history);
  require(verdict.acquires == history.acquires.size(), "each acquire is judged");
  require(verdict.grants <= verdict.acquires && verdict.losses <= verdict.grants,
          "who has lost a lock was granted it");
  const auto incomplete =
      std::ranges::count(verdict.violations, chaos::Rule::complete, &chaos::Violation::rule);
  require(static_cast<std::size_t>(incomplete) >= history.malformed.size(),
          "each malformed line is a violation");
  std::ostringstream report;
  chaos::print(report, history, verdict);
}

}  // namespace custodian::fuzz
