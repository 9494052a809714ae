#pragma once

/// \file
/// Workloads are the measurements of a run, with the targets for ours. Pure.

#include <string>
#include <vector>

#include "run_result.hpp"

namespace custodian::bench {

struct Workload {
  std::string name;
  std::string title;
  std::string work = "cycle";  ///< the work's name in driver.hpp
  int processes = 1;
  int threads = 1;   ///< per process
  int sessions = 1;  ///< per process
  int waiters = 0;
  int locks = 0;  ///< additional locks that the first client holds
  int write_every = 0;
  int passes = 0;     ///< only for ours: the number for `HandOff::cohort`
  bool keep = false;  ///< only for ours: `LockOptions::keep_idle_for`
  int share = 1;      ///< only for ours: `LockOptions::share_readers`
  int hold_us = 0;
  int pause_us = 0;
  bool new_path = false;                ///< for `start`: a lock's path that was never used before
  std::string figure = "cycles_per_s";  ///< the metric that contestants are compared by
  /// The contestants' names, ours first.
  std::vector<std::string> contestants{};
  std::vector<Target> targets{};
  /// The series (scale.hpp) that has this workload as one of its sizes, and the size; empty and 0
  /// if there is none.
  std::string series{};
  int size = 0;
};

struct WorkloadSizes {
  int sessions = 100;    ///< in the work `sessions`
  int waiters = 10'000;  ///< in the work `waiters`
};

[[nodiscard]] std::vector<Workload> all_workloads(const WorkloadSizes& sizes = {});

/// Describes the parameters for people, such as "8 processes, 1 thread each".
[[nodiscard]] std::string parameters(const Workload& workload);

/// The order of the contestants in a round: each contestant is first in turn.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t contestants, int round);

}  // namespace custodian::bench
