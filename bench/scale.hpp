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

/// A series of measurements in which one number grows, and all else stays.
struct Series {
  std::string name;  ///< the name for --only
  std::string title;
  std::string axis;  ///< what the growing number counts
  std::vector<int> sizes;
  std::vector<std::string> metrics;  ///< the metrics, in the order of the columns and panels
};

[[nodiscard]] const std::vector<Series>& all_series();

/// Makes a workload for each size of each series. `sizes` replaces the series' own sizes unless it
/// is empty.
[[nodiscard]] std::vector<Workload> scale_workloads(std::vector<int> sizes = {});

/// A series with its measurements.
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

/// The contestant's points in ascending order of size. A size at which the metric was not measured
/// is omitted.
[[nodiscard]] std::vector<GrowthPoint> points(const Growth& growth, const std::string& contestant,
                                              const std::string& metric);

/// All contestants that take part at any size. Ours is first, as in the run.
[[nodiscard]] std::vector<std::string> contestants_of(const Growth& growth);

}  // namespace custodian::bench
