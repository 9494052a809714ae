#include "semaphores/permit_count.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

PermitJudgement judge_permits(const Listing& leases, std::span<const std::string_view> mine,
                              std::size_t maximum) {
  std::size_t first = leases.contenders().size();
  std::size_t last = 0;
  for (const std::string_view name : mine) {
    const auto index = leases.index_of(name);
    if (!index) return OwnNodeMissing{};
    if (state_of(leases.contenders()[*index].sequence) == SequenceState::exhausted) {
      return Exhausted{name};
    }
    first = std::min(first, *index);
    last = std::max(last, *index);
  }
  const std::size_t taken = last + 1 + leases.malformed().size();
  if (taken <= maximum) return Held{};
  // Only malformed leases are in the way.
  if (last + 1 <= maximum) return Malformed{leases.malformed().front()};
  Full full{.missing = taken - maximum};
  if (first > 0) full.nearest = leases.contenders()[first - 1].name;
  return full;
}

}  // namespace custodian::recipes_detail
