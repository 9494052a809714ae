#include "custodian/clock.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace custodian {

namespace {

/// The clock is chosen once for the process, because time points of different clocks do not
/// compare.
clockid_t choose_clock() noexcept {
  timespec ignored{};
  return ::clock_gettime(CLOCK_BOOTTIME, &ignored) == 0 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
}

}  // namespace

BootClock::time_point BootClock::now() noexcept {
  static const clockid_t clock = choose_clock();
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) {
    // If the clock cannot be read, no lease would ever expire: so the process must not go on.
    std::fputs("custodian: this process may not read the clock\n", stderr);
    std::abort();
  }
  return time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

}  // namespace custodian
