#include "atomics/number_stock.hpp"

#include "atomics/atomic_codec.hpp"

namespace custodian::recipes_detail {

std::optional<std::int64_t> NumberStock::take() {
  if (ranges_.empty()) return std::nullopt;
  Range& range = ranges_.front();
  const std::int64_t number = range.next;
  range.next = wrapping_sum<std::int64_t>(range.next, 1);
  --left_;
  if (--range.left == 0) ranges_.pop_front();
  return number;
}

void NumberStock::add(std::int64_t first) {
  ranges_.push_back({first, options_.chunk});
  left_ += options_.chunk;
}

}  // namespace custodian::recipes_detail
