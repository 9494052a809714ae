#pragma once

/// \file
/// The boot clock, from which all recorded times come: all processes of a machine share it, nobody
/// can set it, and it goes on while the machine sleeps.

#include <chrono>
#include <ctime>

namespace job_scheduler {

[[nodiscard]] inline std::chrono::nanoseconds boot_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace job_scheduler
