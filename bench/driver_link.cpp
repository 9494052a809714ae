#include "driver_link.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace custodian::bench {
namespace {

volatile std::sig_atomic_t signalled = 0;

}  // namespace

DriverLink::DriverLink(std::string name, const std::string& program,
                       std::vector<std::string> arguments)
    : name_{std::move(name)}, process_{program, arguments} {}

std::string DriverLink::answer(std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (lines_.empty()) {
    check_interruption();
    if (process_.has_ended())
      throw std::runtime_error{name_ + "'s driver has ended: " + process_.how_it_ended()};
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error{name_ + "'s driver does not answer"};
    pollfd readable{process_.descriptor(), POLLIN, 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    for (std::string& line : process_.listen()) lines_.push_back(std::move(line));
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  if (line.starts_with("error ")) throw std::runtime_error{name_ + ": " + line.substr(6)};
  return line;
}

std::chrono::nanoseconds DriverLink::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process_.id(), &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    throw std::runtime_error{name_ + ": no CPU clock"};
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void mind_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { signalled = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void check_interruption() {
  if (signalled != 0) throw Interrupted{};
}

}  // namespace custodian::bench
