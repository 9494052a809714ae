#include "custodian/lease/lease_options.hpp"

namespace custodian {

bool is_valid(const LeaseOptions& options) noexcept {
  return !options.hold_at_most || *options.hold_at_most > std::chrono::nanoseconds::zero();
}

}  // namespace custodian
