#pragma once

/// \file
/// Deadline says how long an operation may take.

#include <algorithm>
#include <chrono>
#include <compare>
#include <optional>

namespace custodian {
namespace detail {

/// `from + wait` within what a time can be; `from` itself for what is not positive, or no number.
template <typename Rep, typename Period>
constexpr std::chrono::steady_clock::time_point saturated_sum(
    std::chrono::steady_clock::time_point from, std::chrono::duration<Rep, Period> wait) noexcept {
  using Clock = std::chrono::steady_clock;
  // In floating point, for the comparison of two integral durations may overflow itself.
  using Wide = std::chrono::duration<long double, Clock::period>;
  const Wide wide{wait};
  if (!(wide > Wide::zero())) {
    return from;
  }
  const auto room = Clock::time_point::max() - from;
  if (wide >= Wide{room}) {
    return Clock::time_point::max();
  }
  return from + std::min(room, std::chrono::ceil<Clock::duration>(wait));
}

}  // namespace detail

/// The moment at which an operation gives up, as an absolute time, computed once: an operation of
/// several steps hands the same deadline to all of them.
///
///     client.get("/jobs/last", {2s});                   // two seconds from this line on
///     client.get("/jobs/last", {Deadline::never()});
///     client.get("/jobs/last");                         // the default of the client
///
/// Every operation takes one, in the form of a duration, of a time or of nothing. A deadline is
/// never earlier than asked for: durations are rounded up, and those that would overflow mean
/// never. One that is not positive has passed already; an operation with a passed deadline makes no
/// attempt to wait.
///
/// When not to use it: for how long a lock is held. A lease ends by a clock of its own; this one is
/// the steady clock, which on Linux stands still while the machine is suspended, as timers do.
///
/// Threads: a value; as safe as an `int`.
class Deadline {
 public:
  /// The clock of deadlines.
  using Clock = std::chrono::steady_clock;

  /// The default of the operation that it is handed to. It has not passed, and counts as never,
  /// until `or_default` puts a time in its place.
  constexpr Deadline() noexcept = default;

  // Implicit, both: the point is to write `client.get(path, {2s})`.
  /// At this time.
  template <typename Duration>
  constexpr Deadline(std::chrono::time_point<Clock, Duration> at) noexcept
      : at_{detail::saturated_sum(Clock::time_point{}, at.time_since_epoch())} {}

  /// From now on.
  template <typename Rep, typename Period>
  Deadline(std::chrono::duration<Rep, Period> wait) noexcept
      : at_{detail::saturated_sum(Clock::now(), wait)} {}

  /// One that does not pass.
  [[nodiscard]] static constexpr Deadline never() noexcept {
    return Deadline{Clock::time_point::max()};
  }

  /// Whether the default of the operation is meant.
  [[nodiscard]] constexpr bool is_default() const noexcept { return !at_; }
  /// Whether it never passes. False for a default one.
  [[nodiscard]] constexpr bool is_never() const noexcept { return at_ == Clock::time_point::max(); }

  /// The greatest that there is, for never.
  [[nodiscard]] constexpr Clock::time_point time_point() const noexcept {
    return at_.value_or(Clock::time_point::max());
  }

  /// Whether it has come by then. Never, and a default one, have not.
  [[nodiscard]] constexpr bool passed(Clock::time_point now) const noexcept {
    return time_point() != Clock::time_point::max() && now >= time_point();
  }
  /// Whether it has come.
  [[nodiscard]] bool passed() const noexcept { return passed(Clock::now()); }

  /// Not negative; the greatest duration for never.
  [[nodiscard]] constexpr Clock::duration remaining(Clock::time_point now) const noexcept {
    if (time_point() == Clock::time_point::max()) {
      return Clock::duration::max();
    }
    return std::max(Clock::duration::zero(), time_point() - now);
  }
  /// The same, from now on.
  [[nodiscard]] Clock::duration remaining() const noexcept { return remaining(Clock::now()); }

  /// This deadline, or `fallback` in the place of a default one.
  [[nodiscard]] constexpr Deadline or_default(Deadline fallback) const noexcept {
    return is_default() ? fallback : *this;
  }

  /// The same time, both never, or both default.
  friend constexpr bool operator==(const Deadline&, const Deadline&) noexcept = default;

  /// The earlier is the lesser, and never is the greatest. A default deadline has no order among
  /// others, since it is not known yet.
  friend constexpr std::partial_ordering operator<=>(const Deadline& left,
                                                     const Deadline& right) noexcept {
    if (left.is_default() != right.is_default()) {
      return std::partial_ordering::unordered;
    }
    return left.time_point() <=> right.time_point();
  }

 private:
  std::optional<Clock::time_point> at_;
};

}  // namespace custodian
