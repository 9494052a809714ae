#include "acquire/pending_acquires.hpp"

#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

void PendingAcquires::begin_shutdown() {
  closing_ = true;
  // A copy: acquires that end leave `all_` during the loop.
  const All all = *all_;
  for (const auto& [over, acquire] : all) over->request();
}

void PendingAcquires::enter(const std::shared_ptr<Acquire>& acquire) {
  all_->emplace(acquire->give_up, acquire);
  if (end_) return;
  end_.emplace(strand_, [weak = std::weak_ptr{all_}] {
    if (const auto waiting = weak.lock()) drop_handlers(*waiting);
  });
}

void PendingAcquires::drop_handlers(const All& waiting) {
  // The handlers are destroyed after the loop, because their destructors may run any code.
  std::vector<Handler<Acquired>> dropped;
  for (const auto& [over, weak] : waiting) {
    const AcquirePtr acquire = weak.lock();
    if (!acquire || !acquire->handler) continue;
    dropped.emplace_back().swap(acquire->handler);
    // Dropped here: requests that are never answered may keep the acquire from its own destruction.
    acquire->observed.drop();
  }
}

}  // namespace custodian::recipes_detail
