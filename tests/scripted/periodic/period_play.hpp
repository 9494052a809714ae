#pragma once

/// \file
/// PeriodPlay is one call of OncePerPeriod by the client "observed", with faults, and the checks
/// that must hold in every case.

#include <optional>
#include <string>

#include "custodian/periodic/once_per_period.hpp"
#include "scripted/cancel_moment.hpp"
#include "scripted/world.hpp"

namespace custodian::tests {

/// The call, and the state that it finds on the servers.
enum class PeriodAct {
  first,       ///< there is no record
  due,         ///< the last run is of the period before
  broken_off,  ///< a run of this period was broken off, and is to be repeated
  has_run,     ///< the period has run
  is_running,  ///< another client runs
  end,         ///< the end of a run
};

struct PeriodCancel {
  CancelMoment moment = CancelMoment::request_sent;
  std::size_t at = 0;
};

struct PeriodCase {
  PeriodAct act = PeriodAct::first;
  Faults faults{};
  std::optional<PeriodCancel> cancel{};
  /// The nodes of the lock are deleted when this request is sent, as an operator would.
  std::optional<std::size_t> broken_at{};
};

struct PeriodVerdict {
  std::string violation{};  ///< empty if all is well
  std::size_t steps = 0;    ///< requests of the observed client
};

[[nodiscard]] PeriodVerdict play(const PeriodCase& played);
[[nodiscard]] std::string describe(const PeriodCase& played);

inline constexpr auto job_path = "/jobs/report";
inline constexpr auto record_path = "/jobs/report/record";
inline constexpr auto job_lock_path = "/jobs/report/lock";

/// The record on the servers; nothing if there is none.
[[nodiscard]] std::optional<PeriodRun> recorded(World& world);
/// Writes the record as an operator would, with its times moved back by `by`.
void move_back(World& world, std::chrono::milliseconds by);

}  // namespace custodian::tests
