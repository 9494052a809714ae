#include "kept/kept_record.hpp"

#include <utility>

#include "custodian/authoring/observed_lock.hpp"

namespace custodian::recipes_detail {

void KeptRecord::begin(bool keeps, ObservedLockPtr observed, FencingToken token) {
  keeps_ = keeps;
  was_idle_ = was_used_ = false;
  passes_ = reuses_ = reuses_told_ = 0;
  granted_at_ = used_at_ = std::chrono::steady_clock::now();
  observed_ = std::move(observed);
  token_ = token;
}

void KeptRecord::end(const std::weak_ptr<CorePtr::element_type>& core, KeptLockEnd reason) {
  if (reason == KeptLockEnd::wanted && keeps_) forecast_.on_wanted(passes_);
  keeps_ = false;
  const bool was_idle = std::exchange(was_idle_, false);
  const CorePtr alive = observed_ ? core.lock() : nullptr;
  if (!alive) return;
  tell_reuses(alive);
  if (was_idle) tell_kept_lock_ended(alive, observed_, token_, reason);
}

void KeptRecord::tell_reuses(const CorePtr& core) {
  const long news = reuses_ - std::exchange(reuses_told_, reuses_);
  if (news > 0 && observed_) tell_lock_reused(core, observed_, token_, news);
}

void KeptRecord::look(Time now) noexcept {
  if (std::exchange(was_used_, false)) used_at_ = now;
}

}  // namespace custodian::recipes_detail
