#include "acquire/pending_acquires.hpp"

#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

void PendingAcquires::begin_shutdown() {
  closing_ = true;
  // A copy: acquires that end leave `all_` during the loop.
  const All all = *all_;
  for (const auto& [over, acquire] : all) over->request();
}

void PendingAcquires::enter(const std::shared_ptr<Acquire>& acquire) {
  all_->emplace(acquire->give_up, acquire);
  if (keeper_) return;
  const auto end = std::make_shared<EndOfContext>(all_);
  keeper_ = std::make_unique<asio::steady_timer>(strand_, asio::steady_timer::time_point::max());
  // A context that is destroyed destroys this handler uncalled, and ~EndOfContext() acts. A call of
  // the handler disarms it.
  keeper_->async_wait([end](error_code) { end->all.reset(); });
}

PendingAcquires::EndOfContext::~EndOfContext() {
  const auto waiting = all.lock();
  if (!waiting) return;
  // The handlers are destroyed after the loop, because their destructors may run any code.
  std::vector<Handler<Acquired>> dropped;
  for (const auto& [over, weak] : *waiting) {
    const AcquirePtr acquire = weak.lock();
    if (!acquire || !acquire->handler) continue;
    dropped.emplace_back().swap(acquire->handler);
  }
}

}  // namespace custodian::recipes_detail
