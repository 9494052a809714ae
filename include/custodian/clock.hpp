#pragma once

/// \file
/// Clock is the clock of a client's leases: the machine's, or one that a test moves.
///
/// Use it in tests, as `ClientOptions::clock`; a service leaves that option empty. A test moves a
/// `testing::FakeClock` by hand.
///
/// When not to use it: for deadlines of operations and pauses between attempts. Deadlines and
/// pauses always use the steady clock.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// The machine's boot clock, CLOCK_BOOTTIME: unlike the steady clock, it goes on while the machine
/// is suspended. In a sandbox without that clock, BootClock is CLOCK_MONOTONIC, which stands still
/// during a suspension. If neither is there, the process is aborted, since no lease can be kept
/// without a clock.
struct CUSTODIAN_EXPORT BootClock {
  /// The clock's unit: nanoseconds.
  using duration = std::chrono::nanoseconds;
  /// The type of a count of nanoseconds, which std::chrono requires.
  using rep = duration::rep;
  /// The length of a unit in seconds, which std::chrono requires.
  using period = duration::period;
  /// The time since the machine was started.
  using time_point = std::chrono::time_point<BootClock>;
  /// The clock never goes back.
  static constexpr bool is_steady = true;
  /// The present time. Any thread.
  [[nodiscard]] static time_point now() noexcept;
};

/// A clock in the place of BootClock, with alarms.
///
/// Threads: any thread may call any function. Lifetimes: a client and its sessions share it; an
/// alarm is destroyed before its clock.
class CUSTODIAN_EXPORT Clock {
 public:
  virtual ~Clock() = default;

  /// The present time, which never goes back. The function must be quick: every thread that asks
  /// for the state of a lease calls it.
  [[nodiscard]] virtual BootClock::time_point now() const noexcept = 0;

  /// An alarm calls a function when its time has come.
  class CUSTODIAN_EXPORT Alarm {
   public:
    /// Ends the alarm: no ring begins any more, but one that is under way may still be running.
    virtual ~Alarm() = default;
    /// Makes the alarm ring once, at this time or soon after it; at once if the time has passed.
    /// Replaces the time that was set before. Without a time, the alarm does not ring. A set alarm
    /// is work for its executor until it has rung.
    virtual void set(std::optional<BootClock::time_point> time) = 0;
  };
  /// The executors of a client.
  struct Executors {
    /// Where alarms ring.
    boost::asio::any_io_executor strand{};
    /// Where the user callbacks run that follow from an alarm. Empty: on the strand.
    boost::asio::any_io_executor callbacks{};
  };
  /// Makes an alarm that is not set yet. The alarm calls `ring` on the strand, never from within
  /// set().
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm(Executors executors,
                                                          std::function<void()> ring) = 0;
};

/// The clock's time; BootClock's time if the clock is null.
[[nodiscard]] inline BootClock::time_point now_by(const std::shared_ptr<Clock>& clock) noexcept {
  return clock ? clock->now() : BootClock::now();
}

}  // namespace custodian
