#pragma once

/// \file
/// Hand-made histories for the tests of the judge.

#include <sstream>
#include <string>
#include <vector>

#include "judge.hpp"
#include "support/catch.hpp"

namespace custodian::chaos {

/// The lines of a run's histories. Times are in milliseconds here, for readability; the session
/// timeout is 2 s.
struct Run {
  std::string driver{"0 run 7 2000 5000\n"};
  std::string first{};   ///< the history of worker 1.1
  std::string second{};  ///< the history of worker 2.1

  [[nodiscard]] History history() const {
    const std::string ending =
        "9000 left nodes 0\n9000 left watches 0\n9000 left waiters 0\n9000 end\n";
    History history;
    std::istringstream in_driver{in_ns(driver + ending)};
    read_driver(in_driver, history);
    std::istringstream in_first{in_ns(first)};
    read_worker(in_first, "1.1", history);
    std::istringstream in_second{in_ns(second)};
    read_worker(in_second, "2.1", history);
    return history;
  }

 private:
  static std::string in_ns(const std::string& lines) {
    std::istringstream in{lines};
    std::string out;
    for (std::string line; std::getline(in, line);) {
      const auto space = line.find(' ');
      out += line.substr(0, space) + "000000" + line.substr(space) + "\n";
    }
    return out;
  }
};

/// The broken rules, one entry for each violation.
inline std::vector<Rule> broken(const Run& run) {
  std::vector<Rule> rules;
  for (const Violation& violation : judge(run.history()).violations) {
    UNSCOPED_INFO(to_string(violation.rule) << ": " << violation.what);
    rules.push_back(violation.rule);
  }
  return rules;
}

using Rules = std::vector<Rule>;

}  // namespace custodian::chaos
