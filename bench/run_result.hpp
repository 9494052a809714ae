#pragma once

/// \file
/// RunResult is a run of the benchmark: the workloads, the machine and the figures. It is written
/// as JSON and can be read again, to make a table or a picture of an old run.

#include <string>
#include <vector>

#include "statistics.hpp"

namespace custodian::bench {

struct ContestantResult {
  std::string name{};
  std::string version{};
  std::string does{};        ///< description of the contestant's cycle
  std::string durability{};  ///< of a granted lock
  std::string route{};       ///< its connection to its servers
  std::vector<Metrics> rounds{};
  std::string failure{};  ///< empty if there was none
};

struct Absent {
  std::string name{};
  std::string reason{};  ///< why it did not take part, with what to install
};

/// A target for ours: a ratio to a peer in the same round, or, without a peer, a figure of ours.
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
  std::string series{};  ///< the series (scale.hpp) that this is a size of; empty: none
  int size = 0;
};

struct RunResult {
  int format = 1;
  std::string command{};
  std::string date{};
  std::string machine{};
  std::string servers{};  ///< the ZooKeeper servers: number, version, log
  int rounds = 0;
  double seconds = 0;
  bool complete = true;  ///< the run was not interrupted
  std::vector<WorkloadResult> workloads{};
};

/// The name of our own contestant.
inline constexpr auto our_name = "ours";
inline constexpr auto our_name_before = "ours-before";  ///< see Options::before

[[nodiscard]] const ContestantResult* find(const WorkloadResult& workload, const std::string& name);

/// A target, and the rounds' figures to compare with it; no figures if it was not measured.
struct Verdict {
  Target target;
  std::vector<double> figures;
  bool reached = false;  ///< whether the median reaches the target
};
[[nodiscard]] std::vector<Verdict> verdicts(const WorkloadResult& workload);

/// The JSON that --json writes.
[[nodiscard]] std::string to_json(const RunResult& run);
/// Throws std::runtime_error if the text is not a run, or has another format.
[[nodiscard]] RunResult parse_run(const std::string& json);

}  // namespace custodian::bench
