#pragma once

/// \file
/// Clock is the clock of a client's leases: the machine's, or one that a test moves.
///
/// Use it in tests, as `ClientOptions::clock`; a service leaves that empty. A test moves a
/// `testing::FakeClock` by hand.
///
/// When not to use it: for deadlines of operations and pauses between attempts. Those always use
/// the steady clock.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// CLOCK_BOOTTIME, which goes on while the machine is suspended, unlike the steady clock. If a
/// sandbox does not have that clock: CLOCK_MONOTONIC, which stands still during a suspension. If it
/// has neither, the process is aborted, since no lease can be kept without a clock.
struct CUSTODIAN_EXPORT BootClock {
  /// The clock's unit: nanoseconds.
  using duration = std::chrono::nanoseconds;
  /// As every clock of std::chrono has it.
  using rep = duration::rep;
  /// As every clock of std::chrono has it.
  using period = duration::period;
  /// The time since the machine was started.
  using time_point = std::chrono::time_point<BootClock>;
  /// It never goes back.
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

  /// The present time. It never goes back. This must be quick: every thread that asks for the state
  /// of a lease calls it.
  [[nodiscard]] virtual BootClock::time_point now() const noexcept = 0;

  /// Rings when its time has come.
  class CUSTODIAN_EXPORT Alarm {
   public:
    /// The alarm does not ring any more, but a ring that is under way may still be running.
    virtual ~Alarm() = default;
    /// Makes the alarm ring once, at this time or soon after it; at once if the time has passed.
    /// Replaces the time that was set before. Without a time the alarm does not ring. Until it has
    /// rung, the executor has work.
    virtual void set(std::optional<BootClock::time_point> time) = 0;
  };
  /// The executors of a client.
  struct Executors {
    /// Where alarms ring.
    boost::asio::any_io_executor strand{};
    /// Where user callbacks run that an alarm causes. Empty: on the strand.
    boost::asio::any_io_executor callbacks{};
  };
  /// Makes an alarm that is not set yet. It calls `ring` on the strand, never from within set().
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm(Executors executors,
                                                          std::function<void()> ring) = 0;
};

/// The clock's time; BootClock's time if the clock is null.
[[nodiscard]] inline BootClock::time_point now_by(const std::shared_ptr<Clock>& clock) noexcept {
  return clock ? clock->now() : BootClock::now();
}

}  // namespace custodian
