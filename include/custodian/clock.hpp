#pragma once

/// \file
/// Clock is the clock of a client's leases: the machine's, or one that a test moves.
///
/// Use it to test, by `ClientOptions::clock`; a service leaves that empty. `testing::FakeClock` is
/// one that is moved by hand.
///
/// When not to use it: for deadlines of operations and pauses between attempts. Those go by
/// the steady clock, whatever a client's clock says.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// CLOCK_BOOTTIME: goes on while the machine is suspended, unlike the steady clock. Where a sandbox
/// has no such clock it is CLOCK_MONOTONIC, which stands still then; where it has neither, the
/// process is aborted, for no lease can be kept without a clock.
struct CUSTODIAN_EXPORT BootClock {
  /// The clock's unit: nanoseconds.
  using duration = std::chrono::nanoseconds;
  /// As every clock of std::chrono has it.
  using rep = duration::rep;
  /// As every clock of std::chrono has it.
  using period = duration::period;
  /// Since the machine was started.
  using time_point = std::chrono::time_point<BootClock>;
  /// It never goes back.
  static constexpr bool is_steady = true;
  /// Any thread.
  [[nodiscard]] static time_point now() noexcept;
};

/// A clock in the place of BootClock, with alarms.
///
/// Threads: any, for all of it. Lifetimes: a client and its sessions share it; an alarm is
/// destroyed before its clock.
class CUSTODIAN_EXPORT Clock {
 public:
  virtual ~Clock() = default;

  /// The present time. It never goes back. Each thread that works under a lease asks for its state,
  /// so this must be quick.
  [[nodiscard]] virtual BootClock::time_point now() const noexcept = 0;

  /// Rings when its time has come.
  class CUSTODIAN_EXPORT Alarm {
   public:
    /// It does not ring any more, except for a ring that is under way.
    virtual ~Alarm() = default;
    /// Rings once, at this time or soon after it, at once if it has passed; instead of at the time
    /// that was set before. Never, without a time. Until it has rung, the executor has work.
    virtual void set(std::optional<BootClock::time_point> time) = 0;
  };
  /// Where a client works.
  struct Executors {
    /// Where alarms ring.
    boost::asio::any_io_executor strand{};
    /// Where the user's callbacks run that a ring causes; empty: on the strand, too.
    boost::asio::any_io_executor callbacks{};
  };
  /// An alarm that is not set. It calls `ring` on the strand, never from within set().
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm(Executors executors,
                                                          std::function<void()> ring) = 0;
};

/// The clock's time; BootClock's, if it is null.
[[nodiscard]] inline BootClock::time_point now_by(const std::shared_ptr<Clock>& clock) noexcept {
  return clock ? clock->now() : BootClock::now();
}

}  // namespace custodian
