#pragma once

/// \file
/// The custodian command on a terminal of its own, as somebody sits at it.

#include <sys/types.h>

#include <string>
#include <vector>

namespace custodian::tests {

/// Killed with this object. Every wait has half a minute.
class TerminalProcess {
 public:
  TerminalProcess(const std::string& program, const std::vector<std::string>& words,
                  unsigned short lines = 24, unsigned short columns = 100);
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  ~TerminalProcess();

  /// Waits until it has written this, behind what was waited for before.
  [[nodiscard]] bool shows(const std::string& text);
  /// What comes from the keyboard.
  void type(const std::string& keys) const;
  void resize(unsigned short lines, unsigned short columns) const;
  /// Waits for its end: its exit status, or -1 if a signal has ended it or it did not end.
  [[nodiscard]] int end();
  /// Everything that it has written, commands to the terminal included.
  [[nodiscard]] const std::string& transcript() const noexcept { return transcript_; }

 private:
  /// False at its end, or when nothing comes in time.
  bool read_more(int milliseconds);

  pid_t process_ = -1;
  int terminal_ = -1;
  std::string transcript_;
  std::size_t seen_ = 0;
};

}  // namespace custodian::tests
