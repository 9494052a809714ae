#pragma once

/// \file
/// A sleep that a stop_token ends.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace job_scheduler {

/// Returns whether the time has passed; false if the stop was requested before.
inline bool pause(std::chrono::nanoseconds time, const std::stop_token& stop) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait_until(lock, stop, end, [] { return false; });
  // The clock decides: after the process was stopped the time may be over and a stop requested.
  return std::chrono::steady_clock::now() >= end;
}

}  // namespace job_scheduler
