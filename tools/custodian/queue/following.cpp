#include "queue/following.hpp"

#include <csignal>

namespace custodian::cli {

Following::Following() : signals_{context_, SIGINT, SIGTERM} {
  signals_.add(SIGWINCH);
  signals_.add(SIGCONT);
  wait_for_signal();
  thread_ = std::jthread{[this] { context_.run(); }};
}

Following::~Following() {
  context_.stop();
  thread_.join();
}

void Following::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    if (number == SIGWINCH || number == SIGCONT) {
      resized_ = true;
    } else {
      stop_.request_stop();
    }
    wake();
    wait_for_signal();
  });
}

void Following::wake() {
  const std::lock_guard lock{mutex_};
  woken_ = true;
  changed_.notify_one();
}

bool Following::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, at_most, [&] { return woken_ || stop_.stop_requested(); });
  woken_ = false;
  return !stop_.stop_requested();
}

}  // namespace custodian::cli
