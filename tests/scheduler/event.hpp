#pragma once

/// \file
/// Event is a line of output of an instance of the scheduler. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace custodian::tests::scheduler {

/// Of the boot clock.
using Time = std::chrono::nanoseconds;

enum class EventKind {
  took_over,      ///< number: its token
  running,        ///< a job
  recorded,       ///< a job
  gave_up,        ///< a job
  refused,        ///< its stale token
  leads_no_more,  ///< 0
};

struct Event {
  Time at{0};
  std::string instance{};
  EventKind kind = EventKind::took_over;
  std::int64_t number = 0;
};

/// Nothing if the line is about something else.
[[nodiscard]] std::optional<Event> parse_event(const std::string& line);

}  // namespace custodian::tests::scheduler
