#include "base/boot_timers.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

/// The alarm of a timerfd after `rest`, but at least a nanosecond: zero would disarm the timerfd.
itimerspec alarm_in(BootClock::duration rest) {
  rest = std::max(rest, BootClock::duration{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(rest);
  itimerspec alarm{};
  alarm.it_value.tv_sec = static_cast<std::time_t>(seconds.count());
  alarm.it_value.tv_nsec = static_cast<long>((rest - seconds).count());
  return alarm;
}

}  // namespace

BootTimers::BootTimers(const Strand& strand, std::shared_ptr<Clock> clock,
                       asio::any_io_executor callbacks)
    : strand_{strand},
      clock_{std::move(clock)},
      callbacks_{std::move(callbacks)},
      descriptor_{strand},
      steady_{strand} {}

error_code BootTimers::open() {
  if (clock_) {
    alarm_ = clock_->make_alarm({strand_, callbacks_}, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->on_wake();
    });
    return {};
  }
  const int descriptor = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (descriptor < 0) return {errno, boost::system::system_category()};
  error_code error;
  descriptor_.assign(descriptor, error);
  if (error) ::close(descriptor);
  return error;
}

void BootTimers::set(TimerQueue::Key key, TimerQueue::Time time, TimerQueue::Action action) {
  // The replaced action is destroyed after the mutex is released: it may own an object whose
  // destructor cancels a timer.
  TimerQueue::Action earlier;
  {
    const std::lock_guard lock{mutex_};
    const auto before = queue_.next();
    earlier = queue_.set(key, time, std::move(action));
    if (queue_.next() != before) set_alarm(queue_.next());
  }
  wait();
}

void BootTimers::cancel(TimerQueue::Key key) {
  // As in set(), the action is destroyed after the mutex is released.
  TimerQueue::Action dropped;
  const std::lock_guard lock{mutex_};
  const auto before = queue_.next();
  dropped = queue_.cancel(key);
  if (queue_.next() != before) set_alarm(queue_.next());
}

void BootTimers::set_alarm(std::optional<TimerQueue::Time> time) {
  if (alarm_) return alarm_->set(time);
  const bool is_mine = strand_.running_in_this_thread();
  if (!descriptor_.is_open()) {
    // Without a timerfd, the Asio timer waits, and only the strand may touch it. The strand cancels
    // the wait, and on_wake() begins another.
    asio::dispatch(strand_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->steady_.cancel();
    });
    return;
  }
  // When no timer is left, the wait must end, or it would keep the executor's context running. The
  // strand cancels it; another thread sets an alarm for now, because any thread may set a timerfd.
  if (!time && is_mine) {
    error_code ignored;
    descriptor_.cancel(ignored);
    return;
  }
  const auto rest = time ? *time - now() : BootClock::duration::zero();
  const itimerspec alarm = alarm_in(rest);
  ::timerfd_settime(descriptor_.native_handle(), 0, &alarm, nullptr);
}

void BootTimers::wait() {
  std::optional<TimerQueue::Time> next;
  {
    const std::lock_guard lock{mutex_};
    next = queue_.next();
  }
  if (alarm_ || waiting_ || !next) return;
  const auto woken = [weak = weak_from_this()](error_code) {
    if (const auto self = weak.lock()) self->on_wake();
  };
  if (descriptor_.is_open()) {
    descriptor_.async_wait(asio::posix::descriptor_base::wait_read, woken);
  } else {
    steady_.expires_after(std::max(*next - now(), BootClock::duration{0}));
    steady_.async_wait(woken);
  }
  waiting_ = true;
}

void BootTimers::on_wake() {
  waiting_ = false;
  std::uint64_t alarms = 0;
  if (descriptor_.is_open()) {
    [[maybe_unused]] const auto read = ::read(descriptor_.native_handle(), &alarms, sizeof(alarms));
  }
  // An action that throws must not stop the others: the next alarm runs those that are still due.
  try {
    run_due();
  } catch (...) {
    wait_again();
    throw;
  }
  wait_again();
}

void BootTimers::run_due() {
  std::vector<TimerQueue::Entry> due;
  {
    const std::lock_guard lock{mutex_};
    due = queue_.due(now());
  }
  // The actions are taken one by one, and run without the mutex, because an action may set or
  // cancel timers.
  for (const TimerQueue::Entry& each : due) {
    TimerQueue::Action action;
    {
      const std::lock_guard lock{mutex_};
      action = queue_.take(each);
    }
    if (action) action();
  }
}

void BootTimers::wait_again() {
  {
    const std::lock_guard lock{mutex_};
    if ((alarm_ || descriptor_.is_open()) && !queue_.empty()) set_alarm(queue_.next());
  }
  wait();
}

}  // namespace custodian::detail
