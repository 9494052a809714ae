#pragma once

/// \file
/// The terminal that the command was started on, and which process group it obeys.

#include <sys/types.h>

namespace custodian::cli {

/// The controlling terminal, if there is one; otherwise nobody has it, and giving does nothing.
/// Whoever gives it away while not having it must ignore SIGTTOU.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether this process group is in the foreground.
  [[nodiscard]] bool is_had_by(pid_t group) const;
  void give_to(pid_t group) const;

 private:
  int descriptor_;
};

}  // namespace custodian::cli
