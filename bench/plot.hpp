#pragma once

/// \file
/// Plot draws a picture of a run. Pure.

#include <string>

#include "run_result.hpp"

namespace custodian::bench {

/// An SVG picture that shows, for each workload, how many times better ours was than each peer, by
/// the workload's figure, on one logarithmic scale: a bar for the median of the rounds, a line for
/// their span. Workloads without peers are omitted.
[[nodiscard]] std::string to_svg(const RunResult& run);

}  // namespace custodian::bench
