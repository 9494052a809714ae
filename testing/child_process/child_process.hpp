#pragma once

/// \file
/// ChildProcess is a child that gets and sends lines, over its standard input and output. For the
/// demo and for chaos; not installed.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace custodian::testing {

/// Threads: one at a time.
class ChildProcess {
 public:
  /// Throws std::system_error if it cannot be started.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it, if it is still there, and waits until it is gone.
  ~ChildProcess();

  /// Negative when it is known to have ended.
  [[nodiscard]] pid_t id() const noexcept { return process_; }
  /// Readable when it has said something, or has ended; negative when that is known.
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  [[nodiscard]] bool has_ended() const noexcept { return socket_ < 0; }
  /// Whether it has ended by itself, with 0.
  [[nodiscard]] bool has_succeeded() const noexcept { return wait_status_ == 0; }
  /// "exit status 1", "signal 11"; for people.
  [[nodiscard]] std::string how_it_ended() const;

  /// The lines that have become complete. Blocks unless the descriptor is readable.
  [[nodiscard]] std::vector<std::string> listen();
  /// A child that is gone already is noticed in listen().
  void tell(const std::string& line) const;
  void send_signal(int signal) const;
  /// SIGKILL, and waits until it is gone.
  void kill();

 private:
  void end();

  pid_t process_ = -1;
  int socket_ = -1;
  std::string unread_;
  std::optional<int> wait_status_;
};

}  // namespace custodian::testing
