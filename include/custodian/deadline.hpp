#pragma once

/// \file
/// Deadline says how long an operation may take.

#include <algorithm>
#include <chrono>
#include <compare>
#include <optional>

namespace custodian {
namespace detail {

/// Returns `from + wait`, at most the greatest time; `from` itself if `wait` is not positive, or is
/// NaN.
template <typename Rep, typename Period>
constexpr std::chrono::steady_clock::time_point saturated_sum(
    std::chrono::steady_clock::time_point from, std::chrono::duration<Rep, Period> wait) noexcept {
  using Clock = std::chrono::steady_clock;
  // In floating point, since even the comparison of two integral durations may overflow.
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

/// The moment at which an operation gives up. It is an absolute time that is computed once: an
/// operation of several steps hands the same deadline to all of them.
///
///     client.get("/jobs/last", {2s});                   // two seconds from this line on
///     client.get("/jobs/last", {Deadline::never()});
///     client.get("/jobs/last");                         // the default of the client
///
/// Every operation takes a deadline: a duration, a time or nothing. A deadline is never earlier
/// than asked for: durations are rounded up, and those that would overflow mean never. A duration
/// that is not positive gives a deadline that has passed already; an operation with such a deadline
/// does not wait.
///
/// When not to use it: to limit how long a lock is held. A lease has a clock of its own. Deadlines
/// use the steady clock, which on Linux stands still while the machine is suspended, as timers do.
///
/// Threads: a value type; as safe as an `int`.
class Deadline {
 public:
  /// The clock of deadlines.
  using Clock = std::chrono::steady_clock;

  /// A default deadline: it stands for the default of the operation that gets it. It has not
  /// passed, and counts as never, until or_default() puts a time in its place.
  constexpr Deadline() noexcept = default;

  // Both constructors are implicit, so that one can write `client.get(path, {2s})`.
  /// A deadline at this time.
  template <typename Duration>
  constexpr Deadline(std::chrono::time_point<Clock, Duration> at) noexcept
      : at_{detail::saturated_sum(Clock::time_point{}, at.time_since_epoch())} {}

  /// A deadline `wait` from now.
  template <typename Rep, typename Period>
  Deadline(std::chrono::duration<Rep, Period> wait) noexcept
      : at_{detail::saturated_sum(Clock::now(), wait)} {}

  /// A deadline that never passes.
  [[nodiscard]] static constexpr Deadline never() noexcept {
    return Deadline{Clock::time_point::max()};
  }

  /// Whether this is a default deadline, which stands for the default of the operation.
  [[nodiscard]] constexpr bool is_default() const noexcept { return !at_; }
  /// Whether this deadline never passes. False for a default deadline.
  [[nodiscard]] constexpr bool is_never() const noexcept { return at_ == Clock::time_point::max(); }

  /// The time of the deadline; the greatest time for never and for a default deadline.
  [[nodiscard]] constexpr Clock::time_point time_point() const noexcept {
    return at_.value_or(Clock::time_point::max());
  }

  /// Whether the deadline has passed at `now`. False for never and for a default deadline.
  [[nodiscard]] constexpr bool passed(Clock::time_point now) const noexcept {
    return time_point() != Clock::time_point::max() && now >= time_point();
  }
  /// Whether the deadline has passed by now.
  [[nodiscard]] bool passed() const noexcept { return passed(Clock::now()); }

  /// The time from `now` to the deadline, not negative; the greatest duration for never and for a
  /// default deadline.
  [[nodiscard]] constexpr Clock::duration remaining(Clock::time_point now) const noexcept {
    if (time_point() == Clock::time_point::max()) {
      return Clock::duration::max();
    }
    return std::max(Clock::duration::zero(), time_point() - now);
  }
  /// The time that is left from this moment on; see remaining(now).
  [[nodiscard]] Clock::duration remaining() const noexcept { return remaining(Clock::now()); }

  /// This deadline, or `fallback` if this is a default deadline.
  [[nodiscard]] constexpr Deadline or_default(Deadline fallback) const noexcept {
    return is_default() ? fallback : *this;
  }

  /// Equal if both have the same time, both are never, or both are default.
  friend constexpr bool operator==(const Deadline&, const Deadline&) noexcept = default;

  /// The earlier deadline is less, and never is the greatest. A default deadline is unordered with
  /// others, since its time is not known yet.
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
