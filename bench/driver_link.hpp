#pragma once

/// \file
/// DriverLink is the benchmark's connection to a contestant's process.

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"

namespace custodian::bench {

/// Threads: one.
class DriverLink {
 public:
  DriverLink(std::string name, const std::string& program, std::vector<std::string> arguments);

  void tell(const std::string& line) const { process_.tell(line); }
  /// The next answer. Throws std::runtime_error if it is an error, if the process has ended, or if
  /// it does not come within the limit; Interrupted if the user has interrupted the run.
  [[nodiscard]] std::string answer(std::chrono::seconds limit);
  std::string ask(const std::string& line, std::chrono::seconds limit) {
    tell(line);
    return answer(limit);
  }
  /// CPU time of all its threads so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

 private:
  const std::string name_;
  testing::ChildProcess process_;
  std::deque<std::string> lines_;
};

/// SIGINT or SIGTERM.
struct Interrupted {};

/// From now on these signals do not end the process, but show in interrupted().
void mind_interruptions();
/// Throws Interrupted if there was one.
void check_interruption();

}  // namespace custodian::bench
