#pragma once

/// \file
/// What belongs to an object, and to no thread: any thread may give it back.

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::recipes_detail {

/// Of Lease, a permit each, or LeaseGroup. Threads: any.
template <typename Held>
class HoldPool {
 public:
  /// False if there are none to put.
  bool put(std::vector<Held> holds);
  /// False if it is empty.
  bool put(Held hold);
  /// Gives back so many, the oldest first. Throws Error (operation_not_permitted), and releases
  /// nothing, if there are fewer.
  void release(std::ptrdiff_t count, std::string_view operation, const std::string& path);
  /// Shares the youngest; empty if there is none.
  [[nodiscard]] Held youngest() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Held> holds_;
};

}  // namespace custodian::recipes_detail
