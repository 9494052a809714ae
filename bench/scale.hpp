#pragma once

/// \file
/// Scale is the series of measurements that show how figures grow with the number of waiters, of
/// sessions, and of held locks. Pure.

#include <string>
#include <vector>

#include "run_result.hpp"
#include "statistics.hpp"
#include "workloads.hpp"

namespace custodian::bench {

/// A series: one number grows, and all else stays.
struct Series {
  std::string name;  ///< as --only has it
  std::string title;
  std::string axis;  ///< what is counted
  std::vector<int> sizes;
  std::vector<std::string> metrics;  ///< in the order of columns and panels
};

[[nodiscard]] const std::vector<Series>& all_series();

/// A workload for each size of each series: of its own sizes, unless others are given.
[[nodiscard]] std::vector<Workload> scale_workloads(std::vector<int> sizes = {});

/// A series as it was measured.
struct Growth {
  Series series;
  std::vector<WorkloadResult> sizes;  ///< ascending
};

/// In the order of all_series(), those of which the run has something.
[[nodiscard]] std::vector<Growth> growths(const RunResult& run);

struct GrowthPoint {
  int size = 0;
  Spread value;
};

/// Ascending; without sizes at which the metric was not measured.
[[nodiscard]] std::vector<GrowthPoint> points(const Growth& growth, const std::string& contestant,
                                              const std::string& metric);

/// The contestants at any size, ours first as in the run.
[[nodiscard]] std::vector<std::string> contestants_of(const Growth& growth);

}  // namespace custodian::bench
