#pragma once

/// \file
/// WaitLimit says how long an acquire may take.

#include <chrono>
#include <optional>

#include "custodian/deadline.hpp"

namespace custodian {

/// How long an acquire may take; by default it waits without limit. For authors of recipes: the
/// locks' own functions take a deadline or a duration. See TimedAcquire.
///
/// Threads: a value type.
struct WaitLimit {
  /// When the acquire gives up. A default-constructed Deadline counts as never.
  Deadline deadline = Deadline::never();
  /// If true, the acquire asks the servers once, and waits neither for a connection nor for the
  /// lock.
  bool try_once = false;
  /// If set: the acquire gives up (not_connected) when the servers have been out of reach for this
  /// long, or when it has not entered the queue within this time.
  std::optional<std::chrono::nanoseconds> max_unreachable{};

  /// Whether the acquire may end without a lease and without an error.
  [[nodiscard]] bool limited() const noexcept {
    return try_once || max_unreachable || !deadline.or_default(Deadline::never()).is_never();
  }
  /// The limit of an acquire that begins now. If the deadline has passed, the acquire tries once,
  /// as the standard requires of timed functions.
  [[nodiscard]] WaitLimit from_now() const noexcept {
    const Deadline until = deadline.or_default(Deadline::never());
    if (!try_once && until.passed()) return {Deadline::never(), true, max_unreachable};
    return {until, try_once, max_unreachable};
  }
};

}  // namespace custodian
