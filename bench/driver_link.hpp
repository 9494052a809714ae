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
  /// Waits for the next answer and returns it. Throws std::runtime_error if the answer is an error,
  /// if the process has ended, or if no answer comes within the limit; throws Interrupted if the
  /// user has interrupted the run.
  [[nodiscard]] std::string answer(std::chrono::seconds limit);
  std::string ask(const std::string& line, std::chrono::seconds limit) {
    tell(line);
    return answer(limit);
  }
  /// The CPU time that all threads of the process have used so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

 private:
  const std::string name_;
  testing::ChildProcess process_;
  std::deque<std::string> lines_;
};

/// Thrown after SIGINT or SIGTERM.
struct Interrupted {};

/// Makes SIGINT and SIGTERM no longer end the process: check_interruption() reports them instead.
void mind_interruptions();
/// Throws Interrupted if SIGINT or SIGTERM has arrived.
void check_interruption();

}  // namespace custodian::bench
