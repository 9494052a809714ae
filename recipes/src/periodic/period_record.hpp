#pragma once

/// \file
/// The record of OncePerPeriod, as the data of its node: a line for each member, in words. Pure.

#include <string>
#include <string_view>

#include "custodian/authoring/result.hpp"
#include "custodian/periodic/once_per_period.hpp"

namespace custodian::recipes_detail {

/// A time as in the record: "2026-11-27T10:00:00.113Z".
[[nodiscard]] std::string time_text(PeriodRun::Time time);

[[nodiscard]] std::string encode(const PeriodRun& run);
/// Decodes a record. Fails with malformed_data if encode(), in this version of the format, did not
/// make the text. Lines with unknown names are ignored.
[[nodiscard]] Result<PeriodRun> decode_run(std::string_view text);

}  // namespace custodian::recipes_detail
