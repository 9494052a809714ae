#pragma once

/// \file
/// The permit count decides which leases are within the maximum of a semaphore. Pure; for any
/// thread.
///
/// A permit is a node among the leases, with a number that only grows. A contender with fewer live
/// leases below its own than the maximum is in: so no more than the maximum ever are, independently
/// of the queue that keeps newcomers in order.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// The number of leases that must end before all own ones are within the maximum. `nearest` is the
/// youngest of the lower ones of others; nothing if there are none, and the own ones are too many.
struct Full {
  std::size_t missing = 0;
  std::optional<std::string_view> nearest{};
};
using PermitJudgement = std::variant<Held, Full, OwnNodeMissing, Exhausted, Malformed>;

/// What the creator of the leases `mine`, at least one, must do. A lease without a readable number
/// counts as lower than any; if only such are in the way, waiting does not help.
[[nodiscard]] PermitJudgement judge_permits(const Listing& leases,
                                            std::span<const std::string_view> mine,
                                            std::size_t maximum);

}  // namespace custodian::recipes_detail
