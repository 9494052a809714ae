#pragma once

/// \file
/// The permit count decides which leases are within the maximum of a semaphore. Pure; for any
/// thread.
///
/// A permit is a node among the leases; a later node has a higher number. A contender holds its
/// permit if fewer live leases than the maximum have lower numbers. So no more than the maximum are
/// ever held, independently of the queue that keeps newcomers in order.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// Not all of the contender's own leases are within the maximum: `missing` leases must end first.
/// `nearest` is the youngest lease that is older than all of its own; nothing if there is none, so
/// that its own leases alone are too many.
struct Full {
  std::size_t missing = 0;
  std::optional<std::string_view> nearest{};
};
using PermitJudgement = std::variant<Held, Full, OwnNodeMissing, Exhausted, Malformed>;

/// The judgement for the contender that has created the leases `mine`, at least one. A lease
/// without a readable number counts as lower than any other. If only such leases are in the way,
/// the judgement is Malformed, since waiting does not help.
[[nodiscard]] PermitJudgement judge_permits(const Listing& leases,
                                            std::span<const std::string_view> mine,
                                            std::size_t maximum);

}  // namespace custodian::recipes_detail
