#pragma once

/// \file
/// ThreadHolds counts the threads that hold a lock by its standard face, and how often. Threads:
/// any.

#include <map>
#include <mutex>
#include <thread>

#include "custodian/lease/lease.hpp"

namespace custodian::recipes_detail {

class ThreadHolds {
 public:
  /// Counts one more hold of this thread; false if it has none. Throws lock_lost if its hold is
  /// lost.
  [[nodiscard]] bool enter_again(std::string_view path);
  /// The first hold of this thread.
  void enter(Lease lease);
  /// Counts one hold less. Returns the lease of the last one, to be released; throws if this thread
  /// has none.
  [[nodiscard]] Lease leave(std::string_view path);

  [[nodiscard]] int count() const;
  [[nodiscard]] Lease lease() const;

 private:
  struct ThreadHold {
    Lease lease;
    int count = 1;
  };

  mutable std::mutex mutex_;
  std::map<std::thread::id, ThreadHold> holds_;
};

}  // namespace custodian::recipes_detail
