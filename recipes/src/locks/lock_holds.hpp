#pragma once

/// \file
/// LockHolds are the holds that threads have on a lock through lock() and unlock(); on a read/write
/// lock, the holds on both sides.

#include "acquire/thread_holds.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

class LockHolds {
 public:
  [[nodiscard]] ThreadHolds& of(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? exclusive_ : shared_;
  }
  /// The holds on the other side of a read/write lock, which a thread may have when it acquires
  /// this side.
  [[nodiscard]] ThreadHolds& beside(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? shared_ : exclusive_;
  }

 private:
  ThreadHolds exclusive_;
  ThreadHolds shared_;
};

}  // namespace custodian::recipes_detail
