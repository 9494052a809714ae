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
  std::string name;  ///< the name for --only
  std::string title;
  std::string axis;  ///< the name of the number that grows
  std::vector<int> sizes;
  std::vector<std::string> metrics;  ///< in the order of the columns and panels
};

[[nodiscard]] const std::vector<Series>& all_series();

/// A workload for each size of each series; `sizes` replaces the series' own sizes unless empty.
[[nodiscard]] std::vector<Workload> scale_workloads(std::vector<int> sizes = {});

/// The measurements of a series.
struct Growth {
  Series series;
  std::vector<WorkloadResult> sizes;  ///< ascending
};

/// The series that the run has measured, in the order of all_series().
[[nodiscard]] std::vector<Growth> growths(const RunResult& run);

struct GrowthPoint {
  int size = 0;
  Spread value;
};

/// The points in ascending order of size; sizes without this metric are omitted.
[[nodiscard]] std::vector<GrowthPoint> points(const Growth& growth, const std::string& contestant,
                                              const std::string& metric);

/// All contestants that occur at any size; ours is first, as in the run.
[[nodiscard]] std::vector<std::string> contestants_of(const Growth& growth);

}  // namespace custodian::bench
