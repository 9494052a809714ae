#pragma once

/// \file
/// LockHolds are the holds that threads have on a lock through its standard face; on a read/write
/// lock, those on both sides.

#include "acquire/thread_holds.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

class LockHolds {
 public:
  [[nodiscard]] ThreadHolds& of(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? exclusive_ : shared_;
  }
  /// The hold on the other side that a thread may have when it acquires this one.
  [[nodiscard]] ThreadHolds& beside(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? shared_ : exclusive_;
  }

 private:
  ThreadHolds exclusive_;
  ThreadHolds shared_;
};

}  // namespace custodian::recipes_detail
