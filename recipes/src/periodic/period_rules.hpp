#pragma once

/// \file
/// decide() decides whether a run is due, from the record, the servers' time and the terms. Pure.

#include <chrono>
#include <cstdint>
#include <optional>

#include "custodian/periodic/once_per_period.hpp"

namespace custodian::recipes_detail {

using ServerTime = PeriodRun::Time;

/// The terms that the user of OncePerPeriod has set.
struct PeriodTerms {
  std::chrono::milliseconds every;
  AfterFailure after_failure = AfterFailure::skip;
};

/// The run that is to begin, if `reason` is `none`.
struct Decision {
  NotDue reason = NotDue::none;
  ServerTime due{};
  int attempt = 1;
  std::int64_t missed = 0;
};

/// How long before the due time of a period a call counts for that period.
[[nodiscard]] constexpr std::chrono::milliseconds early_by(
    std::chrono::milliseconds every) noexcept {
  return every / 10;
}
/// The shortest time between two runs of different periods.
[[nodiscard]] constexpr std::chrono::milliseconds apart_by(
    std::chrono::milliseconds every) noexcept {
  return every / 2;
}

/// `last` is the record. A run without an end must be `broken_off` there if its lock is free.
[[nodiscard]] Decision decide(const std::optional<PeriodRun>& last, ServerTime now,
                              const PeriodTerms& terms);

/// The earliest time at which a call may be due, after this run and by these terms.
[[nodiscard]] ServerTime next_call(const PeriodRun& last, const PeriodTerms& terms);

}  // namespace custodian::recipes_detail
