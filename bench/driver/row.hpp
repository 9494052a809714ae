#pragma once

/// \file
/// The work `sessions`, in a driver.

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

/// Threads that stand in one queue; whoever holds the lock waits to be told to let it go. At its
/// end all have it in turn. Lifetimes: the lockers live longer.
class Row {
 public:
  explicit Row(std::vector<std::unique_ptr<Locker>>& lockers);
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row();

  /// Until there is a holder.
  void wait_held();
  /// When the next one holds it: who has let go.
  [[nodiscard]] std::string release();
  /// Of the releases so far, how long each took, in ns.
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
