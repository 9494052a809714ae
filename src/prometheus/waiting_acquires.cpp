#include "waiting_acquires.hpp"

namespace custodian::prometheus_detail {

void WaitingAcquires::begin(BootClock::time_point began, WallTime now) { all_.emplace(began, now); }

bool WaitingAcquires::end(BootClock::time_point began) {
  const auto found = all_.find(began);
  if (found == all_.end()) return false;
  all_.erase(found);
  return true;
}

std::optional<WaitingAcquires::WallTime> WaitingAcquires::oldest() const {
  if (all_.empty()) return std::nullopt;
  return all_.begin()->second;
}

}  // namespace custodian::prometheus_detail
