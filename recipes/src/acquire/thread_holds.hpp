#pragma once

/// \file
/// ThreadHolds counts how often each thread holds a lock through lock() and unlock(). Threads: any.

#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "custodian/lease/lease.hpp"

namespace custodian::recipes_detail {

class ThreadHolds {
 public:
  /// Counts one more hold of this thread; false if it has none. Throws lock_lost if the hold is
  /// lost.
  [[nodiscard]] bool enter_again(std::string_view path);
  /// Registers the first hold of this thread.
  void enter(Lease lease);
  /// Counts one hold less. Returns the lease, which the caller has to release, if that was the last
  /// hold; otherwise an empty lease. Throws if this thread has no hold.
  [[nodiscard]] Lease leave(std::string_view path);

  /// Takes this thread's hold away, with its count, for a wait at a condition. The lease is empty
  /// if the thread has no hold.
  [[nodiscard]] std::pair<Lease, int> take();
  /// Registers a lease in place of the one that take() took away; an empty lease counts as lost.
  void put_back(Lease lease, int count);

  [[nodiscard]] int count() const;
  [[nodiscard]] Lease lease() const;

 private:
  struct ThreadHold {
    Lease lease;
    int count = 1;
    bool lost = false;  ///< the hold was lost in a wait at a condition
  };

  mutable std::mutex mutex_;
  std::map<std::thread::id, ThreadHold> holds_;
};

}  // namespace custodian::recipes_detail
