#include "permit_pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

bool PermitPool::put(std::vector<Lease> leases) {
  const std::lock_guard lock{mutex_};
  std::ranges::move(leases, std::back_inserter(leases_));
  return !leases.empty();
}

void PermitPool::release(std::ptrdiff_t permits, std::string_view operation,
                         const std::string& path) {
  std::vector<Lease> going;
  const std::lock_guard lock{mutex_};
  if (permits < 0 || std::cmp_greater(permits, leases_.size())) {
    throw Error{make_error_code(boost::system::errc::operation_not_permitted), operation, path,
                std::to_string(permits) + " cannot be released where " +
                    std::to_string(leases_.size()) + " were acquired"};
  }
  going.reserve(static_cast<std::size_t>(permits));
  const auto end = leases_.begin() + permits;
  std::move(leases_.begin(), end, std::back_inserter(going));
  leases_.erase(leases_.begin(), end);
}

Lease PermitPool::youngest() const {
  const std::lock_guard lock{mutex_};
  return leases_.empty() ? Lease{} : leases_.back().share();
}

}  // namespace custodian::recipes_detail
