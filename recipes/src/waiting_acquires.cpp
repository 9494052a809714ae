#include "waiting_acquires.hpp"

#include <vector>

#include "acquisition.hpp"

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
  const std::shared_ptr<void> end_of_context{nullptr, [weak = std::weak_ptr{all_}](void*) {
                                               if (const auto all = weak.lock()) {
                                                 drop_handlers(*all);
                                               }
                                             }};
  keeper_ = std::make_unique<asio::steady_timer>(strand_, asio::steady_timer::time_point::max());
  keeper_->async_wait([end_of_context](error_code) {});
}

void WaitingAcquires::drop_handlers(const All& all) {
  std::vector<Handler<Outcome>> dropped;
  for (const auto& [over, weak] : all) {
    const AcquirePtr acquire = weak.lock();
    if (!acquire || !acquire->handler) continue;
    dropped.emplace_back().swap(acquire->handler);
  }
}

}  // namespace custodian::recipes_detail
