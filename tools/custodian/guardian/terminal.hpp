#pragma once

/// \file
/// Terminal is the terminal on which the command was started; a process group can borrow it.

#include <sys/types.h>

namespace custodian::cli {

/// The controlling terminal, which its owner lends. The owner is a process group that a shell may
/// put in the foreground and take out again. Without a terminal there is nothing to lend.
///
/// The process that uses this class must ignore SIGTTOU, and be in the owner's session.
class Terminal {
 public:
  explicit Terminal(pid_t owner);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Lends the terminal to a process group, which may have it already. Returns false if neither
  /// that group nor the owner has it now.
  bool lend_to(pid_t group);
  /// Gives the terminal back to the owner if it is still lent. A shell that has taken it meanwhile
  /// keeps it.
  void take_back();
  /// Returns whether the terminal is with the borrower, or with a group that the borrower has given
  /// it to.
  [[nodiscard]] bool is_lent() const;
  /// Returns whether the owner may be stopped to wait for the terminal: some process can continue
  /// it.
  [[nodiscard]] bool is_in_reach() const;
  /// Takes this process out of the session, for good. The process groups of its children are then
  /// orphaned: reading from the terminal fails for them instead of stopping them.
  void renounce();

 private:
  [[nodiscard]] bool is_borrowed_by(pid_t group) const;

  int descriptor_;
  pid_t owner_;
  /// 0 if the terminal is not lent.
  pid_t borrower_ = 0;
};

}  // namespace custodian::cli
