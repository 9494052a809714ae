#pragma once

/// \file
/// The terminal that the command was started on, and which process group it obeys.

#include <sys/types.h>

namespace custodian::cli {

/// The controlling terminal, as its owner lends it: a process group that a shell may put in the
/// foreground and take out again. Without a terminal there is nothing to lend.
///
/// Who uses it must ignore SIGTTOU, and be in the owner's session.
class Terminal {
 public:
  explicit Terminal(pid_t owner);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// To a process group, which may have it already; false if neither that nor the owner has it now.
  bool lend_to(pid_t group);
  /// Back to the owner, but only what is lent: a shell that has taken it since keeps it.
  void take_back();
  /// Whether the borrower has it, or a group that the borrower has handed it to.
  [[nodiscard]] bool is_lent() const;
  /// Whether the owner may get it: it can be stopped, and somebody is there to let it go on.
  [[nodiscard]] bool is_in_reach() const;
  /// Takes this process out of the session, for good. If the owner is out of reach, so are the
  /// groups of our children then, which are not stopped any more: to read is an error for them.
  void renounce();

 private:
  [[nodiscard]] bool is_borrowed_by(pid_t group) const;

  int descriptor_;
  pid_t owner_;
  /// 0 if it is not lent.
  pid_t borrower_ = 0;
};

}  // namespace custodian::cli
