#pragma once

/// \file
/// Countdown decides when a command has to end. The guardian may ask it late, if the guardian was
/// stopped or the machine was asleep. Pure: times in, the due action out.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "custodian/session/session.hpp"

namespace custodian::cli {

class Countdown {
 public:
  using Time = BootClock::time_point;
  enum class Due : std::uint8_t {
    nothing,
    request,  ///< ask the command to end; returned once
    kill,
  };

  /// Notes that the lock is held at least until `time`, and is lost then unless a later call
  /// extends it. After the loss the command has `grace` to end. A lost lock cannot be extended.
  void hold_until(Time time, std::chrono::nanoseconds grace) {
    if (is_lost_) return;
    hold_until_ = time;
    grace_ = grace;
  }

  /// Notes that the lock was lost at `at`, or when its time ran out if that was earlier.
  void lose(Time at, std::chrono::nanoseconds grace) {
    if (hold_until_) at = std::min(at, *hold_until_);
    hold_until_.reset();
    is_lost_ = true;
    kill_at_ = std::min(kill_at_.value_or(Time::max()), at + grace);
  }

  [[nodiscard]] Due due(Time now) {
    if (hold_until_ && now >= *hold_until_) lose(*hold_until_, grace_);
    if (!is_lost_) return Due::nothing;
    if (now >= *kill_at_) return Due::kill;
    return std::exchange(is_requested_, true) ? Due::nothing : Due::request;
  }

  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
  /// The time at which the result of due() changes, if nothing else happens.
  [[nodiscard]] std::optional<Time> next() const { return is_lost_ ? kill_at_ : hold_until_; }

 private:
  std::optional<Time> hold_until_;
  std::chrono::nanoseconds grace_{};
  /// Has a value once the lock is lost.
  std::optional<Time> kill_at_;
  bool is_lost_ = false;
  bool is_requested_ = false;
};

}  // namespace custodian::cli
