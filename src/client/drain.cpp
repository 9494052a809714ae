#include "client/drain.hpp"

#include <utility>

namespace custodian::detail {

// -- Leases ---------------------------------------------------------------------------------------

bool Drain::count(int change) noexcept {
  const std::lock_guard lock{mutex_};
  holds_ += change;
  if (holds_ != 0) return false;
  drained_.notify_all();
  return draining_;
}

bool Drain::has_hold() const {
  const std::lock_guard lock{mutex_};
  return holds_ != 0;
}

void Drain::wait(Deadline deadline) {
  std::unique_lock lock{mutex_};
  const auto over = [this] { return holds_ == 0 || cut_off_.has_value(); };
  if (deadline.is_never()) {
    drained_.wait(lock, over);
  } else {
    drained_.wait_until(lock, deadline.time_point(), over);
  }
}

void Drain::cut_holders_off() {
  const std::lock_guard lock{mutex_};
  cut_off_ = holds_ != 0;
  drained_.notify_all();
}

bool Drain::has_cut_holders_off() const {
  const std::lock_guard lock{mutex_};
  return cut_off_.value_or(false);
}

// -- Waits on the strand --------------------------------------------------------------------------

void Drain::cancel_when_drained(const std::shared_ptr<boost::asio::steady_timer>& timer) {
  // Each wait registers a timer of its own; those of waits that have ended are dropped here.
  std::erase_if(timers_, [](const auto& each) { return each.expired(); });
  timers_.push_back(timer);
}

void Drain::cancel_timers() {
  for (const auto& weak : std::exchange(timers_, {})) {
    if (const auto timer = weak.lock()) timer->cancel();
  }
}

void Drain::when_notified(std::function<void()> next) {
  if (!notifying_) return next();
  nexts_.push_back(std::move(next));
}

void Drain::end_notifying() {
  notifying_ = false;
  for (auto& next : std::exchange(nexts_, {})) next();
}

}  // namespace custodian::detail
