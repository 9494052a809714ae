#pragma once

/// \file
/// Plot draws a picture of a run. Pure.

#include <string>

#include "run_result.hpp"

namespace custodian::bench {

/// Draws, as SVG, how many times better ours was than each peer. Each workload has one row for each
/// peer, on a common logarithmic scale: a bar for the median of the rounds, and a line for their
/// span. The workload's figure is compared. Workloads without peers are omitted.
[[nodiscard]] std::string to_svg(const RunResult& run);

}  // namespace custodian::bench
