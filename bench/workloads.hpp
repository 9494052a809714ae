#pragma once

/// \file
/// Workloads are what is measured, with the targets for ours. Pure.

#include <string>
#include <vector>

#include "run_result.hpp"

namespace custodian::bench {

struct Workload {
  std::string name;
  std::string title;
  std::string work = "cycle";  ///< as the drivers know it
  int processes = 1;
  int threads = 1;   ///< of a process
  int sessions = 1;  ///< of a process
  int waiters = 0;
  int locks = 0;  ///< that the first client holds besides
  int write_every = 0;
  int passes = 0;  ///< of ours, `HandOff::cohort`
  int hold_us = 0;
  int pause_us = 0;
  bool new_path = false;                ///< of `start`: a lock at a path that was never used
  std::string figure = "cycles_per_s";  ///< that contestants are compared by
  /// Its contestants, ours first.
  std::vector<std::string> contestants{};
  std::vector<Target> targets{};
  /// Of a series (scale.hpp) its name, and how many there are; empty and 0 for one of its own.
  std::string series{};
  int size = 0;
};

struct WorkloadSizes {
  int sessions = 100;    ///< of `sessions`
  int waiters = 10'000;  ///< of `waiters`
};

[[nodiscard]] std::vector<Workload> all_workloads(const WorkloadSizes& sizes = {});

/// "8 processes, 1 thread each", for people.
[[nodiscard]] std::string parameters(const Workload& workload);

/// The order of the contestants in a round: each in turn is first.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t contestants, int round);

}  // namespace custodian::bench
