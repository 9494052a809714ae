#pragma once

/// \file
/// Plot draws a picture of a run. Pure.

#include <string>

#include "run_result.hpp"

namespace custodian::bench {

/// SVG: for each workload how many times better ours was than each peer, by the workload's
/// figure, on one logarithmic scale; a bar for the median of the rounds, a line for their span.
/// Without peers in it a workload is left out.
[[nodiscard]] std::string to_svg(const RunResult& run);

}  // namespace custodian::bench
