#include "permit_count.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

PermitJudgement judge_permits(const Listing& leases, std::span<const std::string_view> mine,
                              std::size_t maximum) {
  std::size_t last = 0;
  for (const std::string_view name : mine) {
    const auto index = leases.index_of(name);
    if (!index) return OwnNodeMissing{};
    if (state_of(leases.contenders()[*index].sequence) == SequenceState::exhausted) {
      return Exhausted{name};
    }
    last = std::max(last, *index);
  }
  const std::size_t taken = last + 1 + leases.malformed().size();
  if (taken <= maximum) return Held{};
  return Full{taken - maximum};
}

}  // namespace custodian::recipes_detail
