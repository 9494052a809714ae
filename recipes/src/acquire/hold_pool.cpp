#include "acquire/hold_pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lock_sets/lease_group.hpp"

namespace custodian::recipes_detail {

template <typename Held>
bool HoldPool<Held>::put(Held hold) {
  if (!hold) return false;
  const std::lock_guard lock{mutex_};
  holds_.push_back(std::move(hold));
  return true;
}

template <typename Held>
void HoldPool<Held>::release(std::ptrdiff_t count, std::string_view operation,
                             const std::string& path) {
  // Declared before the lock, so that the leases are released after the mutex is unlocked.
  std::vector<Held> going;
  const std::lock_guard lock{mutex_};
  if (count < 0 || std::cmp_greater(count, holds_.size())) {
    throw Error{make_error_code(boost::system::errc::operation_not_permitted), operation, path,
                std::to_string(count) + " cannot be released where " +
                    std::to_string(holds_.size()) + " were acquired"};
  }
  going.reserve(static_cast<std::size_t>(count));
  const auto end = holds_.begin() + count;
  std::move(holds_.begin(), end, std::back_inserter(going));
  holds_.erase(holds_.begin(), end);
}

template <typename Held>
Held HoldPool<Held>::youngest() const {
  const std::lock_guard lock{mutex_};
  return holds_.empty() ? Held{} : holds_.back().share();
}

template <typename Held>
bool HoldPool<Held>::is_held() const {
  const LeaseState state = youngest().state();
  return state == LeaseState::held || state == LeaseState::suspended;
}

template class HoldPool<Lease>;
template class HoldPool<LeaseGroup>;

}  // namespace custodian::recipes_detail
