#include "lock_sets/quorum_rule.hpp"

#include <algorithm>
#include <functional>

namespace custodian::recipes_detail {

LeaseState state_of(std::span<const LeaseState> leases, std::size_t needed) noexcept {
  if (leases.empty()) return LeaseState::released;
  const auto count = [&](LeaseState state) {
    return static_cast<std::size_t>(std::ranges::count(leases, state));
  };
  const std::size_t held = count(LeaseState::held);
  if (held >= needed) return LeaseState::held;
  return held + count(LeaseState::suspended) >= needed ? LeaseState::suspended : LeaseState::lost;
}

std::chrono::nanoseconds remaining_of(std::vector<std::chrono::nanoseconds> leases,
                                      std::size_t needed) noexcept {
  if (needed == 0 || needed > leases.size()) return std::chrono::nanoseconds::zero();
  const auto last = leases.begin() + static_cast<std::ptrdiff_t>(needed - 1);
  std::ranges::nth_element(leases, last, std::greater{});
  return *last;
}

}  // namespace custodian::recipes_detail
