#pragma once

/// \file
/// Row does a driver's work `sessions`.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "driver.hpp"

namespace custodian::bench {

/// Threads that wait in one queue. The holder keeps the lock until it is ordered to release. At the
/// end all waiters get the lock one after another. The lockers must outlive the row.
class Row {
 public:
  explicit Row(std::vector<std::unique_ptr<Locker>>& lockers);
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row();

  /// Waits until a thread holds the lock.
  void wait_held();
  /// Releases, waits for the next holder, and returns the session that has released.
  [[nodiscard]] std::string release();
  /// The time of each hand-over so far, in ns.
  [[nodiscard]] std::vector<std::int64_t> handovers() const;

 private:
  void stand(Locker& locker);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::vector<std::int64_t> handovers_;
  std::string holder_;
  int held_ = 0;
  int permitted_ = 0;
  int released_ = 0;
  std::int64_t released_at_ = 0;
  std::exception_ptr error_;
};

}  // namespace custodian::bench
