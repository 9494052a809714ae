#pragma once

/// \file
/// Who is within the maximum of a semaphore. Pure; for any thread.
///
/// A permit is a node among the leases, with a number that only grows. Whoever has fewer live
/// leases below its own than the maximum is in: so no more than the maximum ever are, whoever comes
/// and goes, and whatever becomes of the queue that keeps newcomers in order.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// So many leases must go before all of one's own are within the maximum. `nearest` is the youngest
/// of the others that are lower; nothing if there are none, and one's own are too many.
struct Full {
  std::size_t missing = 0;
  std::optional<std::string_view> nearest{};
};
using PermitJudgement = std::variant<Held, Full, OwnNodeMissing, Exhausted, Malformed>;

/// What whoever has created the leases `mine`, one at least, is to do. A lease of which nobody can
/// tell the number counts as lower than any; if none but such are in the way, no waiting helps.
[[nodiscard]] PermitJudgement judge_permits(const Listing& leases,
                                            std::span<const std::string_view> mine,
                                            std::size_t maximum);

}  // namespace custodian::recipes_detail
