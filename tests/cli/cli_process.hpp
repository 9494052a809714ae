#pragma once

/// \file
/// CliProcess is the custodian command as a process of a test: its words, its signals and its exit
/// status.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "programs/program.hpp"

namespace custodian::tests {

/// Whether a process is there, and has not ended.
[[nodiscard]] bool is_running(pid_t process);
[[nodiscard]] std::string content_of(const std::string& file);
/// An empty file, which a script waits for.
void create(const std::string& file);

struct Ended {
  /// As a shell would report it; -1: it has not ended in time.
  int status = -1;
  std::string out;
  std::string err;
};

/// In a process group of its own, and killed with this object. What it writes goes to files, for a
/// process that it leaves behind must not hold the test up.
class CliProcess {
 public:
  /// `custodian --servers <ours> <words>`.
  explicit CliProcess(const std::vector<std::string>& words);
  /// Any program, with the signals as a program usually has them.
  CliProcess(const std::string& program, const std::vector<std::string>& words);
  CliProcess(const CliProcess&) = delete;
  CliProcess& operator=(const CliProcess&) = delete;
  ~CliProcess();

  [[nodiscard]] pid_t id() const noexcept { return process_; }
  void signal(int number) const;
  /// Waits for it, for half a minute.
  [[nodiscard]] Ended end();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] std::string out() const { return content_of(directory_.file("out")); }
  [[nodiscard]] std::string err() const { return content_of(directory_.file("err")); }
  /// Waits until it has said so, on either output.
  [[nodiscard]] bool says(const std::string& words) const;

 private:
  Directory directory_;
  pid_t process_ = -1;
  int status_ = -1;
};

[[nodiscard]] inline Ended run_cli(const std::vector<std::string>& words) {
  return CliProcess{words}.end();
}

}  // namespace custodian::tests
