#include "shared/newest_value.hpp"

#include <utility>

namespace custodian::recipes_detail {

bool is_news(const Sighting& seen, const Sighting& now) noexcept {
  if (now.mzxid > seen.mzxid) return true;
  return seen.session && seen.session != now.session && now.mzxid != seen.mzxid;
}

void NewestValue::note(Reading reading) {
  const std::lock_guard lock{mutex_};
  if (!newest_ || is_news(newest_->sighting, reading.sighting)) newest_ = std::move(reading);
}

std::optional<NewestValue::Reading> NewestValue::get() const {
  const std::lock_guard lock{mutex_};
  return newest_;
}

}  // namespace custodian::recipes_detail
