#pragma once

/// \file
/// A program on a terminal of its own, on which the test types.

#include <sys/types.h>

#include <string>
#include <vector>

namespace custodian::tests {

inline const std::string ctrl_c{"\x03"};
inline const std::string ctrl_z{"\x1a"};

struct TerminalSize {
  unsigned short lines = 24;
  unsigned short columns = 80;
};

/// The program leads a session of its own, in the foreground. The destructor ends it and its
/// terminal.
class TerminalProcess {
 public:
  TerminalProcess(const std::string& program, const std::vector<std::string>& words,
                  TerminalSize size = {});
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  ~TerminalProcess();

  void type(const std::string& keys) const;
  void resize(TerminalSize size) const;
  /// Waits until this text is on the terminal, after the text of the previous call.
  [[nodiscard]] bool shows(const std::string& text);
  /// All text that has been on the terminal so far.
  [[nodiscard]] const std::string& screen() const noexcept { return screen_; }
  /// Waits for the end of the program. Returns its exit status as a shell reports it, or -1 if the
  /// program does not end.
  [[nodiscard]] int status();

 private:
  void read();

  int terminal_ = -1;
  pid_t process_ = -1;
  int status_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace custodian::tests
