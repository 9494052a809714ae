#pragma once

/// \file
/// What the end of an acquire says of the lock and of ZooKeeper.

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

enum class LockAnswer {
  busy,    ///< somebody else is in
  away,    ///< nobody can say who is in
  failed,  ///< neither: the error says what
};

/// What an acquire saw that ended without a lease.
struct LastSight {
  error_code error;
  bool somebody_ahead = false;
  bool connected = false;
};

/// Doubt is no permission: away is only what nobody has been seen in.
[[nodiscard]] LockAnswer lock_answer(const LastSight& seen) noexcept;

}  // namespace custodian::recipes_detail
