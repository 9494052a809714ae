#pragma once

/// \file
/// BootTimers keep running while the machine is suspended. Leases expire meanwhile, because the
/// servers' clocks keep running; with Asio's timers, which stand still, a holder would be notified
/// of a loss long after the machine has woken up. All timers of a client share one descriptor (a
/// timerfd of CLOCK_BOOTTIME), or one alarm of the clock that the client was given.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "base/timer_queue.hpp"
#include "custodian/clock.hpp"
#include "custodian/error.hpp"

namespace custodian::detail {

class BootTimers : public std::enable_shared_from_this<BootTimers> {
 public:
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;

  /// `callbacks`, the executor of the user callbacks that follow from these timers, is passed on to
  /// the alarm of `clock`.
  explicit BootTimers(const Strand& strand, std::shared_ptr<Clock> clock = nullptr,
                      boost::asio::any_io_executor callbacks = {});
  /// Must be called before the first use. After an error there is no timerfd, and the timers stand
  /// still while the machine is suspended.
  [[nodiscard]] error_code open();

  // Called on the strand only.
  void set(TimerQueue::Key key, TimerQueue::Time time, TimerQueue::Action action);

  // Called on any thread. An action that is already running is not stopped.
  void cancel(TimerQueue::Key key);

 private:
  [[nodiscard]] TimerQueue::Time now() const noexcept { return now_by(clock_); }
  void wait();
  void on_wake();
  void run_due();
  void wait_again();
  /// Sets the alarm to `time`, which is the first timer's; ends the wait if no timer is left.
  /// Called with `mutex_` locked.
  void set_alarm(std::optional<TimerQueue::Time> time);

  const Strand strand_;
  const std::shared_ptr<Clock> clock_;
  const boost::asio::any_io_executor callbacks_;
  /// The alarm of `clock_`. If there is one, the timerfd and the Asio timer are unused.
  std::unique_ptr<Clock::Alarm> alarm_;
  /// The timerfd. If it could not be opened, `steady_` waits instead.
  boost::asio::posix::basic_stream_descriptor<Strand> descriptor_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>, Strand>
      steady_;
  bool waiting_ = false;

  std::mutex mutex_;  ///< guards what follows
  TimerQueue queue_;
};

/// BootTimer is one timer, with at most one action at a time. Used on the strand only, except the
/// destructor: it may run on any thread, while an action that has begun is still running.
class BootTimer {
 public:
  explicit BootTimer(std::shared_ptr<BootTimers> timers) : timers_{std::move(timers)} {}
  BootTimer(const BootTimer&) = delete;
  BootTimer& operator=(const BootTimer&) = delete;
  ~BootTimer() { timers_->cancel(this); }

  /// Runs the action later, on the strand; replaces an earlier action.
  void set(TimerQueue::Time time, TimerQueue::Action action) {
    timers_->set(this, time, std::move(action));
  }
  void cancel() { timers_->cancel(this); }

 private:
  const std::shared_ptr<BootTimers> timers_;
};

}  // namespace custodian::detail
