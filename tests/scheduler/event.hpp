#pragma once

/// \file
/// Event is a line of output of an instance of the scheduler. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace custodian::tests::scheduler {

/// A time of the boot clock.
using Time = std::chrono::nanoseconds;

/// The kind of an event. The meaning of Event::number depends on it.
enum class EventKind {
  took_over,      ///< `number` is the token of the leadership
  running,        ///< `number` is the job's
  recorded,       ///< `number` is the job's
  gave_up,        ///< `number` is the job's
  refused,        ///< `number` is the stale token
  leads_no_more,  ///< `number` is 0
};

struct Event {
  Time at{0};
  std::string instance{};
  EventKind kind = EventKind::took_over;
  std::int64_t number = 0;
};

/// Parses a line of output; nothing if it is no event.
[[nodiscard]] std::optional<Event> parse_event(const std::string& line);

}  // namespace custodian::tests::scheduler
