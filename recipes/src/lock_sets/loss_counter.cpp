#include "lock_sets/loss_counter.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>

namespace custodian::recipes_detail {

namespace asio = boost::asio;

LossCounter::LossCounter(const Client& home, std::size_t spare)
    : home_{home.share()}, spare_{static_cast<std::ptrdiff_t>(spare)} {}

void LossCounter::listen(const std::stop_token& lost) {
  ears_.emplace_back(lost, [self = shared_from_this()] { self->on_loss(); });
}

void LossCounter::on_loss() {
  // The first `spare` losses do no harm.
  if (spare_.fetch_sub(1) > 0) return;
  Phase phase = Phase::listening;
  if (!phase_.compare_exchange_strong(phase, Phase::telling)) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::telling) lost_.request_stop();
  complete_waiters({});
  // A listener may have released the leases meanwhile. Then dismiss() has left the callbacks alone,
  // because destroying them would wait for this function to end.
  phase = Phase::telling;
  if (!phase_.compare_exchange_strong(phase, Phase::told)) ears_.clear();
}

void LossCounter::dismiss() noexcept {
  if (phase_.exchange(Phase::dismissed) == Phase::telling) return;
  // A callback that runs now reports nothing any more, so it delays this only briefly.
  ears_.clear();
  complete_waiters(asio::error::operation_aborted);
}

void LossCounter::wait(const CancellationPtr& cancellation, Handler<> handler) {
  const auto waiter = std::make_shared<Waiter>(std::move(handler));
  Phase phase = Phase::listening;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(waiters_, [](const auto& each) { return each->done(); });
    phase = phase_;
    if (phase == Phase::listening) waiters_.push_back(waiter);
  }
  if (phase == Phase::dismissed) return waiter->complete(asio::error::operation_aborted);
  if (phase != Phase::listening) return waiter->complete({});
  if (!cancellation) return;
  asio::dispatch(home_.get_executor(), [cancellation, weak = std::weak_ptr{waiter}] {
    const auto give_up = [weak] {
      if (const auto alive = weak.lock()) alive->complete(asio::error::operation_aborted);
    };
    if (cancellation->requested()) return give_up();
    cancellation->on_request(cancellation.get(), give_up);
  });
}

void LossCounter::complete_waiters(error_code error) {
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    const std::lock_guard lock{mutex_};
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter->complete(error);
}

void LossCounter::Waiter::complete(error_code error) {
  if (!done_.exchange(true)) std::move(handler_)(error);
}

}  // namespace custodian::recipes_detail
