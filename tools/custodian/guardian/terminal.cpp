#include "guardian/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "guardian/descendants.hpp"

namespace custodian::cli {

Terminal::Terminal(pid_t owner)
    : descriptor_{open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)}, owner_{owner} {}

Terminal::~Terminal() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Terminal::lend_to(pid_t group) {
  if (descriptor_ < 0) return false;
  const pid_t holder = tcgetpgrp(descriptor_);
  if (holder != group && (holder != owner_ || tcsetpgrp(descriptor_, group) != 0)) return false;
  borrower_ = group;
  return true;
}

void Terminal::take_back() {
  if (is_lent()) tcsetpgrp(descriptor_, owner_);
  borrower_ = 0;
}

bool Terminal::is_lent() const { return borrower_ != 0 && is_borrowed_by(tcgetpgrp(descriptor_)); }

bool Terminal::is_in_reach() const { return !is_orphaned(owner_); }

void Terminal::renounce() {
  // A group leader cannot begin a session, so this process joins another group first.
  if (setpgid(0, owner_) == 0) setsid();
}

bool Terminal::is_borrowed_by(pid_t group) const {
  if (group == borrower_) return true;
  if (group <= 0) return false;
  // A shell that has borrowed the terminal lends it to its job's group, which may be gone by now.
  if (kill(-group, 0) != 0 && errno == ESRCH) return true;
  return std::ranges::any_of(descendants(getpid()), [group](const ProcessEntry& entry) {
    return getpgid(entry.process) == group;
  });
}

}  // namespace custodian::cli
