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

/// What an instance has reported; the comments say what Event::number is.
enum class EventKind {
  took_over,      ///< the token of its leadership
  running,        ///< the number of the job
  recorded,       ///< the number of the job
  gave_up,        ///< the number of the job
  refused,        ///< the stale token
  leads_no_more,  ///< 0
};

struct Event {
  Time at{0};
  std::string instance{};
  EventKind kind = EventKind::took_over;
  std::int64_t number = 0;
};

/// Nothing if the line is no event.
[[nodiscard]] std::optional<Event> parse_event(const std::string& line);

}  // namespace custodian::tests::scheduler
