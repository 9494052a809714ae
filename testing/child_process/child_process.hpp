#pragma once

/// \file
/// ChildProcess is a child process that exchanges lines over its standard input and output. It is
/// for the demo, the benchmark and the tests, and not installed.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace custodian::testing {

/// Threads: one at a time.
class ChildProcess {
 public:
  /// Starts the program. Throws std::system_error if it cannot be started.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills the child, if it still runs, and waits until it is gone.
  ~ChildProcess();

  /// The process id; negative once the child is known to have ended.
  [[nodiscard]] pid_t id() const noexcept { return process_; }
  /// A descriptor that is readable when the child has written something, or has ended; negative
  /// once the child's end is known.
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  [[nodiscard]] bool has_ended() const noexcept { return socket_ < 0; }
  /// Whether the child has exited with status 0.
  [[nodiscard]] bool has_succeeded() const noexcept { return wait_status_ == 0; }
  /// How the child ended, for people: "exit status 1", "signal 11".
  [[nodiscard]] std::string how_it_ended() const;

  /// Reads the lines that are complete now. Blocks unless the descriptor is readable.
  [[nodiscard]] std::vector<std::string> listen();
  /// Sends a line. If the child is gone, listen() reports that.
  void tell(const std::string& line) const;
  void send_signal(int signal) const;
  /// Sends SIGKILL, and waits until the child is gone.
  void kill();

 private:
  void end();

  pid_t process_ = -1;
  int socket_ = -1;
  std::string unread_;
  std::optional<int> wait_status_;
};

}  // namespace custodian::testing
