#pragma once

/// \file
/// HoldPool is a FIFO of leases that belong to a lock object and to no thread: any thread may
/// release one.

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace custodian::recipes_detail {

/// `Held` is Lease (one for each permit) or LeaseGroup. Threads: any.
template <typename Held>
class HoldPool {
 public:
  /// Adds a hold; false if `hold` is empty.
  bool put(Held hold);
  /// Releases `count` holds, the oldest first. Throws Error (operation_not_permitted), and releases
  /// nothing, if there are fewer.
  void release(std::ptrdiff_t count, std::string_view operation, const std::string& path);
  /// A share of the youngest hold; empty if there is none.
  [[nodiscard]] Held youngest() const;
  /// Whether there is a hold, and the youngest is not lost.
  [[nodiscard]] bool is_held() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Held> holds_;
};

}  // namespace custodian::recipes_detail
