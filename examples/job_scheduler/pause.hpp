#pragma once

/// \file
/// pause() sleeps, and wakes up early when a stop is requested.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace job_scheduler {

/// Returns true if the time has passed; false if a stop was requested before that.
inline bool pause(std::chrono::nanoseconds time, const std::stop_token& stop) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait_until(lock, stop, end, [] { return false; });
  // The clock decides: if the process was suspended, the time may be over and a stop requested too.
  return std::chrono::steady_clock::now() >= end;
}

}  // namespace job_scheduler
