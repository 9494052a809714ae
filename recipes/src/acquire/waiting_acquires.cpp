#include "acquire/waiting_acquires.hpp"

#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

void WaitingAcquires::begin_shutdown() {
  closing_ = true;
  // They leave meanwhile.
  const All all = *all_;
  for (const auto& [over, acquire] : all) over->request();
}

void WaitingAcquires::enter(const std::shared_ptr<Acquire>& acquire) {
  all_->emplace(acquire->give_up, acquire);
  if (keeper_) return;
  const auto end = std::make_shared<EndOfContext>(all_);
  keeper_ = std::make_unique<asio::steady_timer>(strand_, asio::steady_timer::time_point::max());
  keeper_->async_wait([end](error_code) { end->all.reset(); });
}

WaitingAcquires::EndOfContext::~EndOfContext() {
  const auto waiting = all.lock();
  if (!waiting) return;
  std::vector<Handler<Outcome>> dropped;
  for (const auto& [over, weak] : *waiting) {
    const AcquirePtr acquire = weak.lock();
    if (!acquire || !acquire->handler) continue;
    dropped.emplace_back().swap(acquire->handler);
  }
}

}  // namespace custodian::recipes_detail
