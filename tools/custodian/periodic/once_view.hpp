#pragma once

/// \file
/// These functions format what `custodian once` prints about a run, for people and programs. Pure.

#include <optional>
#include <string>
#include <vector>

#include "custodian/periodic/once_per_period.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

/// Why there is no turn, and when the next call may have one.
[[nodiscard]] std::string no_turn_text(const std::string& job, const TurnResult& result);

/// What to do about a record that cannot be read.
[[nodiscard]] std::string bad_record_text(const std::string& record);

/// The run of a job, as a table of names and values.
[[nodiscard]] std::vector<std::vector<std::string>> rows_of(const PeriodRun& run);

/// The run of a job as JSON; `last` is null if none has ever begun.
[[nodiscard]] Json json_of_job(const std::string& job, const std::optional<PeriodRun>& run);

}  // namespace custodian::cli
