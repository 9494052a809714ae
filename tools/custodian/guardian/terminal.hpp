#pragma once

/// \file
/// Terminal lends the terminal that the command was started on to a process group.

#include <sys/types.h>

namespace custodian::cli {

/// The controlling terminal, as its owner lends it: a process group that a shell may put in the
/// foreground and take out again. Without a terminal there is nothing to lend.
///
/// Its user must ignore SIGTTOU, and be in the owner's session.
class Terminal {
 public:
  explicit Terminal(pid_t owner);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Lends it to a process group, which may have it already; false if neither that nor the owner
  /// has it now.
  bool lend_to(pid_t group);
  /// Gives it back to the owner, but only if it is still lent: a shell that has taken it since
  /// keeps it.
  void take_back();
  /// Whether the borrower has it, or a group that the borrower has given it to.
  [[nodiscard]] bool is_lent() const;
  /// Whether the owner may be stopped for it: a process exists that can continue the owner.
  [[nodiscard]] bool is_in_reach() const;
  /// Takes this process out of the session, for good. The groups of our children are then orphaned
  /// and not stopped any more: reading fails for them.
  void renounce();

 private:
  [[nodiscard]] bool is_borrowed_by(pid_t group) const;

  int descriptor_;
  pid_t owner_;
  /// 0 if it is not lent.
  pid_t borrower_ = 0;
};

}  // namespace custodian::cli
