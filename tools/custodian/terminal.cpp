#include "terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace custodian::cli {

Terminal::Terminal() : descriptor_{open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {}

Terminal::~Terminal() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Terminal::is_had_by(pid_t group) const {
  return descriptor_ >= 0 && tcgetpgrp(descriptor_) == group;
}

void Terminal::give_to(pid_t group) const {
  if (descriptor_ >= 0) tcsetpgrp(descriptor_, group);
}

}  // namespace custodian::cli
