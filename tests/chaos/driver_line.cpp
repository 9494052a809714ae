#include "driver_line.hpp"

#include <unistd.h>

#include <iostream>
#include <thread>

namespace custodian::chaos {

DriverLine::DriverLine() {
  std::thread{[this] { listen(); }}.detach();
}

void DriverLine::say(const std::string& message) {
  const std::string line = message + "\n";
  const std::lock_guard guard{mutex_};
  std::cout << line << std::flush;
}

bool DriverLine::keeps(const std::string& lock) const {
  const std::lock_guard guard{mutex_};
  return kept_ == lock;
}

bool DriverLine::wants_quiet() const {
  const std::lock_guard guard{mutex_};
  return quiet_;
}

void DriverLine::listen() {
  const std::string keep = "keep ";
  for (std::string line; std::getline(std::cin, line);) {
    const std::lock_guard guard{mutex_};
    if (line.starts_with(keep)) kept_ = line.substr(keep.size());
    if (line == "let-go" || line == "finish") kept_.reset();
    quiet_ = kept_ && line == "be-quiet";
    if (line == "finish" && !finishing_.exchange(true)) finish_.set_value();
  }
  ::_exit(1);
}

}  // namespace custodian::chaos
