#pragma once

/// \file
/// CliProcess runs the custodian command as a process of a test, with its arguments, signals and
/// exit status.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "programs/program.hpp"

namespace custodian::tests {

/// Returns whether a process exists and has not ended.
[[nodiscard]] bool is_running(pid_t process);
[[nodiscard]] std::string content_of(const std::string& file);
/// Creates an empty file, for which a script of the test waits.
void create(const std::string& file);

struct Ended {
  /// The exit status as a shell reports it; -1 if the process has not ended in time.
  int status = -1;
  std::string out;
  std::string err;
};

/// The process has a group of its own, and the destructor kills it. It writes its output to files:
/// with pipes, a process that it leaves behind could block the test.
class CliProcess {
 public:
  /// Runs `custodian --servers <the test's servers> <words>`.
  explicit CliProcess(const std::vector<std::string>& words);
  /// Runs any program, with the usual signal dispositions.
  CliProcess(const std::string& program, const std::vector<std::string>& words);
  CliProcess(const CliProcess&) = delete;
  CliProcess& operator=(const CliProcess&) = delete;
  ~CliProcess();

  [[nodiscard]] pid_t id() const noexcept { return process_; }
  void signal(int number) const;
  /// Waits for the process to end, half a minute at most.
  [[nodiscard]] Ended end();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] std::string out() const { return content_of(directory_.file("out")); }
  [[nodiscard]] std::string err() const { return content_of(directory_.file("err")); }
  /// Waits until the process has written these words to one of its outputs. Returns false if it
  /// does not in time.
  [[nodiscard]] bool says(const std::string& words) const;
  /// Like says(), for the standard output alone: a warning may have the same words.
  [[nodiscard]] bool prints(const std::string& words) const;

 private:
  Directory directory_;
  pid_t process_ = -1;
  int status_ = -1;
};

[[nodiscard]] inline Ended run_cli(const std::vector<std::string>& words) {
  return CliProcess{words}.end();
}

}  // namespace custodian::tests
