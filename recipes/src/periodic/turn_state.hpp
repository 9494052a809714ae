#pragma once

/// \file
/// TurnState is the run of a period while it is under way; end_turn() writes its end.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>

#include "custodian/lease/lease.hpp"
#include "custodian/periodic/once_per_period.hpp"

namespace custodian::recipes_detail {

struct TurnState {
  PeriodsPtr periods;
  Lease lease;
  PeriodRun run;
  std::int32_t version = 0;  ///< the version of the record that names this run
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

}  // namespace custodian::recipes_detail
