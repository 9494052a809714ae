#include "support/watchdog.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace custodian::tests {

using Clock = std::chrono::steady_clock;

Watchdog::Watchdog(std::chrono::seconds limit) : limit_{limit}, thread_{[this] { watch(); }} {}

Watchdog::~Watchdog() {
  {
    std::scoped_lock lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(std::string case_name) {
  std::scoped_lock lock{mutex_};
  case_name_ = std::move(case_name);
  deadline_ = Clock::now() + limit_;
  changed_.notify_one();
}

void Watchdog::stop() {
  std::scoped_lock lock{mutex_};
  deadline_ = Clock::time_point::max();
}

void Watchdog::watch() {
  std::unique_lock lock{mutex_};
  while (!ending_) {
    if (deadline_ == Clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      // This is a copy, since wait_until() reads its argument again after it has unlocked the
      // mutex.
      const auto deadline = deadline_;
      changed_.wait_until(lock, deadline);
    }
    if (Clock::now() >= deadline_) {
      std::fprintf(stderr,
                   "\n*** watchdog: the test case \"%s\" took longer than %lld s; aborting\n",
                   case_name_.c_str(), static_cast<long long>(limit_.count()));
      // Without this Catch2 would handle SIGABRT, and report from here: on the wrong thread, and
      // while the test still runs.
      std::signal(SIGABRT, SIG_DFL);
      std::abort();
    }
  }
}

}  // namespace custodian::tests
