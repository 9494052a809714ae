#include "lock_sets/custom_acquisition.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "custodian/authoring/thrown.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// The acquire of a custom lock. While it is under way, the timer's handler owns it. The function
/// by which the lock answers does not own it, so a lock that never answers keeps nothing of the
/// client alive.
class CustomAcquisition : public std::enable_shared_from_this<CustomAcquisition> {
 public:
  CustomAcquisition(const Client& home, CancellationPtr cancellation,
                    std::shared_ptr<CustomLock> lock, std::string name, CustomWait wait,
                    Deadline deadline, Handler<HeldCustomPtr> handler)
      : home_{home.share()},
        cancellation_{std::move(cancellation)},
        lock_{std::move(lock)},
        name_{std::move(name)},
        limit_{.deadline = deadline, .wait = wait, .given_up = give_up_.get_token()},
        handler_{std::move(handler)},
        timer_{home_.get_executor(), deadline.time_point()} {}

  // Called on the strand.
  void start();

  // Called from any thread.
  /// The first answer counts. If a later one brings a hold, that is released in the same thread.
  void answer(error_code error, std::unique_ptr<CustomHold>& hold);
  void fail(const Thrown& thrown);

 private:
  void call_lock();
  void give_up(error_code error);
  void end(error_code error, HeldCustomPtr held);

  const Client home_;
  const CancellationPtr cancellation_;
  const std::shared_ptr<CustomLock> lock_;
  const std::string name_;
  std::stop_source give_up_;
  const CustomLimit limit_;
  std::atomic<bool> answered_ = false;

  // These members are used on the strand only.
  Handler<HeldCustomPtr> handler_;
  asio::steady_timer timer_;
};

/// All copies of the function by which a lock answers share this object.
class Answer {
 public:
  explicit Answer(std::weak_ptr<CustomAcquisition> acquisition)
      : acquisition_{std::move(acquisition)} {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() {
    const auto waiting = acquisition_.lock();
    if (!waiting) return;
    namespace errc = boost::system::errc;
    // The last copy is destroyed. Unless the lock has answered before, the acquire fails.
    waiting->fail({make_error_code(errc::state_not_recoverable), "it has dropped its answer"});
  }

  void give(error_code error, std::unique_ptr<CustomHold> hold) {
    if (const auto waiting = acquisition_.lock()) waiting->answer(error, hold);
    // The acquire has not taken the hold, for it was over or the answer is an error.
    if (hold) hold->release();
  }

 private:
  const std::weak_ptr<CustomAcquisition> acquisition_;
};

void CustomAcquisition::start() {
  if (cancellation_ && cancellation_->requested()) return end(asio::error::operation_aborted, {});
  if (cancellation_) {
    cancellation_->on_request(this, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->give_up(asio::error::operation_aborted);
    });
  }
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled) self->give_up({});
  });
  asio::post(home_.callback_executor(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->call_lock();
  });
}

void CustomAcquisition::call_lock() {
  if (answered_) return;  // given up before it was begun
  const auto answer = std::make_shared<Answer>(weak_from_this());
  try {
    lock_->async_acquire(limit_, [answer](error_code error, std::unique_ptr<CustomHold> hold) {
      answer->give(error, std::move(hold));
    });
  } catch (...) {
    fail(thrown_now());
  }
}

void CustomAcquisition::answer(error_code error, std::unique_ptr<CustomHold>& hold) {
  if (answered_) return;
  HeldCustomPtr held;
  if (hold && !error) held = std::make_shared<HeldCustom>(home_, name_, std::move(hold));
  if (answered_.exchange(true)) return;
  asio::post(home_.get_executor(),
             [self = shared_from_this(), error, held = std::move(held)]() mutable {
               self->end(error, std::move(held));
             });
}

void CustomAcquisition::fail(const Thrown& thrown) {
  if (answered_.exchange(true)) return;
  home_.log(LogLevel::error, "acquiring " + name_ + " has failed: " + thrown.text);
  asio::post(home_.get_executor(),
             [self = shared_from_this(), error = thrown.error] { self->end(error, {}); });
}

void CustomAcquisition::give_up(error_code error) {
  if (answered_.exchange(true)) return;
  const auto self = shared_from_this();
  end(error, {});
  asio::post(home_.callback_executor(), [give_up = give_up_]() mutable { give_up.request_stop(); });
}

void CustomAcquisition::end(error_code error, HeldCustomPtr held) {
  timer_.cancel();
  if (cancellation_) cancellation_->forget(this);
  std::move(handler_)(error, std::move(held));
}

}  // namespace

void start_acquire_custom(const Client& home, CancellationPtr cancellation,
                          std::shared_ptr<CustomLock> lock, std::string name,
                          const WaitLimit& wait_limit, Handler<HeldCustomPtr> handler) {
  const CustomWait wait = wait_limit.try_once ? CustomWait::not_at_all : CustomWait::until_deadline;
  const Deadline asking = wait_limit.try_once ? home.deadline_or_default({}) : Deadline::never();
  const auto acquisition = std::make_shared<CustomAcquisition>(
      home, std::move(cancellation), std::move(lock), std::move(name), wait,
      std::min(wait_limit.deadline, asking), std::move(handler));
  acquisition->start();
}

}  // namespace custodian::recipes_detail
