#pragma once

/// \file
/// WorkerProcess is a worker as the demo sees it: a child process, and the messages it has sent.

#include <chrono>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"

namespace custodian::demo {

class WorkerProcess {
 public:
  /// Starts `program` with these arguments. Throws std::system_error if that fails.
  WorkerProcess(int number, const std::string& program, const std::vector<std::string>& arguments);

  /// The worker's progress; worker.cpp describes its messages.
  enum class Stage { starting, ready, inside, done, failed, killed };
  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int increments_done() const noexcept { return done_; }
  [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept { return timeout_; }

  /// A descriptor that is readable when the worker has sent a message, or has ended.
  [[nodiscard]] int descriptor() const noexcept { return process_.descriptor(); }
  [[nodiscard]] bool has_ended() const noexcept { return process_.has_ended(); }
  /// Reads the worker's messages. To be called when the descriptor is readable.
  void listen();
  void let_begin() const { process_.tell(""); }
  /// Allows the last increment, for which the worker waits.
  void let_finish() const { process_.tell(""); }
  /// Sends SIGKILL, and waits until the worker is gone.
  void kill();

 private:
  void understand(const std::string& line);

  const int number_;
  testing::ChildProcess process_;
  Stage stage_ = Stage::starting;
  int done_ = 0;
  std::chrono::milliseconds timeout_{0};
};

}  // namespace custodian::demo
