#pragma once

/// \file
/// RunResult is a run of the benchmark: the workloads, the machine and the figures. It is written
/// as JSON, and can be read again to make a table or a picture of an earlier run.

#include <string>
#include <vector>

#include "statistics.hpp"

namespace custodian::bench {

struct ContestantResult {
  std::string name{};
  std::string version{};
  std::string does{};        ///< describes the contestant's cycle
  std::string durability{};  ///< the failures that a held lock survives
  std::string route{};       ///< the way to the servers
  std::vector<Metrics> rounds{};
  std::string failure{};  ///< why the contestant failed; empty if it did not
};

struct Absent {
  std::string name{};
  std::string reason{};  ///< why the contestant did not take part, and what to install
};

/// A target for ours: a ratio to a peer in the same round or, if `peer` is empty, a figure of ours.
struct Target {
  std::string metric{};
  std::string peer{};
  bool at_least = true;  ///< false: the value must be at most `limit`
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
  std::string series{};  ///< the series (scale.hpp) that this workload belongs to; or empty
  int size = 0;
};

struct RunResult {
  int format = 1;
  std::string command{};
  std::string date{};
  std::string machine{};
  std::string servers{};  ///< the ZooKeeper servers: their number, version, and log
  int rounds = 0;
  double seconds = 0;
  bool complete = true;  ///< false if the run was interrupted
  std::vector<WorkloadResult> workloads{};
};

/// The name of our own contestant.
inline constexpr auto our_name = "ours";
inline constexpr auto our_name_before = "ours-before";  ///< see Options::before

[[nodiscard]] const ContestantResult* find(const WorkloadResult& workload, const std::string& name);

/// A target, and the figures of the rounds to compare with it. There are no figures if the target
/// was not measured.
struct Verdict {
  Target target;
  std::vector<double> figures;
  bool reached = false;  ///< whether the median reaches the target
};
[[nodiscard]] std::vector<Verdict> verdicts(const WorkloadResult& workload);

/// The JSON that --json writes.
[[nodiscard]] std::string to_json(const RunResult& run);
/// Reads what to_json() wrote. Throws std::runtime_error if the text is no run, or has another
/// format.
[[nodiscard]] RunResult parse_run(const std::string& json);

}  // namespace custodian::bench
