#pragma once

/// \file
/// decide() says whether a run is due. Pure: the record, the servers' time and the terms go in.

#include <chrono>
#include <cstdint>
#include <optional>

#include "custodian/periodic/once_per_period.hpp"

namespace custodian::recipes_detail {

using ServerTime = PeriodRun::Time;

/// What the caller of OncePerPeriod has set.
struct PeriodTerms {
  std::chrono::milliseconds every;
  AfterFailure after_failure = AfterFailure::skip;
};

/// The run that begins, if `reason` is none.
struct Decision {
  NotDue reason = NotDue::none;
  ServerTime due{};
  int attempt = 1;
  std::int64_t missed = 0;
};

/// How much before its due time a call counts for it.
[[nodiscard]] constexpr std::chrono::milliseconds early_by(
    std::chrono::milliseconds every) noexcept {
  return every / 10;
}
/// How much two runs of different periods are apart at the least.
[[nodiscard]] constexpr std::chrono::milliseconds apart_by(
    std::chrono::milliseconds every) noexcept {
  return every / 2;
}

/// `last` is the record, in which a run without an end is `broken_off` if its lock is free.
[[nodiscard]] Decision decide(const std::optional<PeriodRun>& last, ServerTime now,
                              const PeriodTerms& terms);

/// From when on a call may be due, after this run and by these terms.
[[nodiscard]] ServerTime next_call(const PeriodRun& last, const PeriodTerms& terms);

}  // namespace custodian::recipes_detail
