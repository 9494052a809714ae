#include "at_once.hpp"

#include <algorithm>

namespace custodian::tests {

std::size_t most_at_once(const std::vector<demo::Hold>& holds) {
  std::vector<std::int64_t> ins(holds.size());
  std::vector<std::int64_t> outs(holds.size());
  std::ranges::transform(holds, ins.begin(), &demo::Hold::in);
  std::ranges::transform(holds, outs.begin(), &demo::Hold::out);
  std::ranges::sort(ins);
  std::ranges::sort(outs);
  std::ptrdiff_t begun = 0;
  std::ptrdiff_t most = 0;
  for (const std::int64_t in : ins) {
    ++begun;
    const std::ptrdiff_t ended = std::ranges::upper_bound(outs, in) - outs.begin();
    most = std::max(most, begun - ended);
  }
  return static_cast<std::size_t>(most);
}

}  // namespace custodian::tests
