#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace custodian::tests {

// Aborts the process when a test case takes longer than the limit, and names the case. It calls
// abort() instead of exit(), so that a core file or a debugger shows where each thread is.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start(std::string case_name);
  void stop();

 private:
  void watch();

  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string case_name_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace custodian::tests
