#pragma once

/// \file
/// RunResult is a run of the benchmark: what was measured, on what, and the figures. Written as
/// JSON, and read again, so that a table or a picture can be made of an old run.

#include <string>
#include <vector>

#include "statistics.hpp"

namespace custodian::bench {

struct ContestantResult {
  std::string name{};
  std::string version{};
  std::string does{};        ///< what a cycle is for it
  std::string durability{};  ///< of the lock, when it is granted
  std::string route{};       ///< its connection to its servers
  std::vector<Metrics> rounds{};
  std::string failure{};  ///< empty if there was none
};

struct Absent {
  std::string name{};
  std::string reason{};  ///< with what to install
};

/// A target for ours: a ratio against a peer in the same round, or, without a peer, a figure of
/// ours alone.
struct Target {
  std::string metric{};
  std::string peer{};
  bool at_least = true;  ///< otherwise: at most
  double limit = 0;
};

struct WorkloadResult {
  std::string name{};
  std::string title{};
  std::string parameters{};
  std::string figure{};  ///< the metric that contestants are compared by
  std::vector<ContestantResult> contestants{};
  std::vector<Absent> absent{};
  std::vector<Target> targets{};
  std::string series{};  ///< that it is a size of (scale.hpp); empty if of none
  int size = 0;
};

struct RunResult {
  int format = 1;
  std::string command{};
  std::string date{};
  std::string machine{};
  std::string servers{};  ///< ZooKeeper's: number, version, log
  int rounds = 0;
  double seconds = 0;
  bool complete = true;  ///< it was not interrupted
  std::vector<WorkloadResult> workloads{};
};

/// The name of our own contestant.
inline constexpr auto our_name = "ours";
inline constexpr auto our_name_before = "ours-before";  ///< see Options::before

[[nodiscard]] const ContestantResult* find(const WorkloadResult& workload, const std::string& name);

/// A target, and the rounds' figures to compare with it: none if it was not measured.
struct Verdict {
  Target target;
  std::vector<double> figures;
  bool reached = false;  ///< by the median
};
[[nodiscard]] std::vector<Verdict> verdicts(const WorkloadResult& workload);

/// As --json has it.
[[nodiscard]] std::string to_json(const RunResult& run);
/// Throws std::runtime_error if it is something else, or of another format.
[[nodiscard]] RunResult parse_run(const std::string& json);

}  // namespace custodian::bench
