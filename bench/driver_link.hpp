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
  /// The next answer. Throws std::runtime_error if the answer is an error, if the process has
  /// ended, or if no answer comes within the limit; Interrupted if the user has interrupted the
  /// run.
  [[nodiscard]] std::string answer(std::chrono::seconds limit);
  std::string ask(const std::string& line, std::chrono::seconds limit) {
    tell(line);
    return answer(limit);
  }
  /// The CPU time of all threads of the process so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

 private:
  const std::string name_;
  testing::ChildProcess process_;
  std::deque<std::string> lines_;
};

/// Thrown after SIGINT or SIGTERM.
struct Interrupted {};

/// From now on SIGINT and SIGTERM do not end the process; check_interruption() reports them.
void mind_interruptions();
/// Throws Interrupted if one of the signals has arrived.
void check_interruption();

}  // namespace custodian::bench
