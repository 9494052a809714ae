#pragma once

/// \file
/// What threads hold of a lock by its standard face; of a read/write lock, of both its sides.

#include "acquire/thread_holds.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

class LockHolds {
 public:
  [[nodiscard]] ThreadHolds& of(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? exclusive_ : shared_;
  }
  /// What a thread may have of the other side when it comes for this one.
  [[nodiscard]] ThreadHolds& beside(ContenderKind kind) noexcept {
    return kind == ContenderKind::exclusive ? shared_ : exclusive_;
  }

 private:
  ThreadHolds exclusive_;
  ThreadHolds shared_;
};

}  // namespace custodian::recipes_detail
