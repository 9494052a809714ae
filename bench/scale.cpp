#include "scale.hpp"

#include <algorithm>

namespace custodian::bench {
namespace {

Workload base(const std::string& name) {
  const std::vector<Workload> all = all_workloads();
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

Workload of_size(const Series& series, int size) {
  Workload workload;
  if (series.name == "waiters") {
    workload = base("waiters");
    workload.waiters = size;
  } else if (series.name == "sessions") {
    workload = base("sessions");
    // One more session is needed, since one holds the lock.
    workload.sessions = workload.threads = size + 1;
    workload.contestants = {our_name, "curator"};
  } else {
    workload = base("lock");
    workload.locks = size;
    workload.contestants = {our_name, "curator"};
  }
  workload.name = "scale-" + series.name + "-" + std::to_string(size);
  workload.title = series.title + ": " + std::to_string(size);
  workload.targets.clear();
  workload.series = series.name;
  workload.size = size;
  return workload;
}

}  // namespace

const std::vector<Series>& all_series() {
  static const std::vector<Series> all{
      {.name = "waiters",
       .title = "Waiters of one process on one lock",
       .axis = "waiters",
       .sizes = {1, 10, 100, 1'000, 10'000},
       .metrics = {"queued_per_s", "drained_per_s", "memory_per_waiter", "cpu_us_per_cycle",
                   "requests_per_cycle"}},
      {.name = "sessions",
       .title = "Sessions that wait for one lock",
       .axis = "sessions that wait",
       .sizes = {1, 10, 100, 300, 1'000},
       .metrics = {"woken_per_release", "bytes_per_cycle", "handover_p50_us"}},
      {.name = "held",
       .title = "Locks held by one client, and a cycle on one more",
       .axis = "locks held",
       .sizes = {1, 10, 100, 1'000, 10'000},
       .metrics = {"held_per_s", "let_go_per_s", "memory_per_lock", "acquire_p50_us",
                   "cycles_per_s", "cpu_us_per_cycle"}},
  };
  return all;
}

std::vector<Workload> scale_workloads(std::vector<int> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<Workload> result;
  for (const Series& series : all_series()) {
    for (const int size : sizes.empty() ? series.sizes : sizes)
      result.push_back(of_size(series, size));
  }
  return result;
}

std::vector<Growth> growths(const RunResult& run) {
  std::vector<Growth> result;
  for (const Series& series : all_series()) {
    Growth growth{series, {}};
    for (const WorkloadResult& workload : run.workloads) {
      if (workload.series != series.name) continue;
      const auto behind =
          std::ranges::upper_bound(growth.sizes, workload.size, {}, &WorkloadResult::size);
      growth.sizes.insert(behind, workload);
    }
    if (!growth.sizes.empty()) result.push_back(std::move(growth));
  }
  return result;
}

std::vector<GrowthPoint> points(const Growth& growth, const std::string& contestant,
                                const std::string& metric) {
  std::vector<GrowthPoint> result;
  for (const WorkloadResult& workload : growth.sizes) {
    const ContestantResult* one = find(workload, contestant);
    if (one == nullptr) continue;
    if (const auto spread = spread_of(values_of(one->rounds, metric)))
      result.push_back({workload.size, *spread});
  }
  return result;
}

std::vector<std::string> contestants_of(const Growth& growth) {
  std::vector<std::string> names;
  for (const WorkloadResult& workload : growth.sizes) {
    for (const ContestantResult& one : workload.contestants) {
      if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

}  // namespace custodian::bench
