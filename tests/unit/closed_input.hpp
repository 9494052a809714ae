#pragma once

/// \file
/// ClosedInput makes 0 a descriptor like any other.

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace custodian::tests {

/// While the object lives, the process has no standard input, as some daemons: so the next file or
/// socket that is opened gets the descriptor 0.
class ClosedInput {
 public:
  ClosedInput() : usual_{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)} {
    REQUIRE(usual_ >= 0);
    ::close(STDIN_FILENO);
  }
  /// Closes the file or socket that has the descriptor 0 then.
  ~ClosedInput() {
    ::dup2(usual_, STDIN_FILENO);
    ::close(usual_);
  }
  ClosedInput(const ClosedInput&) = delete;
  ClosedInput& operator=(const ClosedInput&) = delete;

 private:
  const int usual_;
};

}  // namespace custodian::tests
