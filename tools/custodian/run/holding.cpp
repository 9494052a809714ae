#include "run/holding.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

/// When the maximum time is up, the client's callback thread waits this long for the command to
/// end: a little less than the second that the lock waits for the callback.
constexpr std::chrono::milliseconds hand_over_delay{950};

}  // namespace

Holding::Holding(asio::any_io_executor executor, AtMaximum at_maximum, LossListener listener)
    : executor_{std::move(executor)},
      at_maximum_{at_maximum},
      listener_{std::make_shared<const LossListener>(std::move(listener))} {}

void Holding::begin(std::vector<Lease> leases) {
  ended_ = std::promise<void>{};
  const std::shared_future<void> ended = ended_.get_future().share();
  for (Lease& lease : leases) {
    held_.push_back({std::move(lease), nullptr});
    Held& held = held_.back();
    const auto observer = std::make_shared<const Lease>(held.lease.share());
    const bool waits = at_maximum_ == AtMaximum::waits;
    held.on_lost = std::make_unique<std::stop_callback<std::function<void()>>>(
        held.lease.lost(),
        [executor = executor_, listener = std::weak_ptr{listener_}, observer, ended, waits] {
          const LossReason reason = observer->loss_reason();
          asio::post(executor, [listener, reason] {
            if (const auto told = listener.lock()) (*told)(reason);
          });
          // The lock passes on when this callback returns.
          if (waits && reason == LossReason::held_too_long) ended.wait_for(hand_over_delay);
        });
  }
}

void Holding::end() {
  // end() wakes a waiting callback before it destroys the subscriptions, whose destructors wait for
  // that callback.
  ended_.set_value();
  held_.clear();
}

LossReason Holding::lost_reason() const {
  for (const Held& held : held_) {
    if (held.lease.state() == LeaseState::lost) return held.lease.loss_reason();
  }
  return LossReason::none;
}

BootClock::time_point Holding::until() const {
  // The clock is read before the leases: the time between the two readings must not be added.
  const auto now = BootClock::now();
  auto remaining = std::chrono::nanoseconds::max() - now.time_since_epoch();
  for (const Held& held : held_) remaining = std::min(remaining, held.lease.remaining());
  return now + remaining;
}

}  // namespace custodian::cli
