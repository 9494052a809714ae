#include "run_result.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace custodian::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ContestantResult, name, version, does, durability, route, rounds,
                                   failure)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Absent, name, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Target, metric, peer, at_least, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkloadResult, name, title, parameters, figure, contestants,
                                   absent, targets, series, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunResult, format, command, date, machine, servers, rounds,
                                   seconds, complete, workloads)

const ContestantResult* find(const WorkloadResult& workload, const std::string& name) {
  const auto found = std::find_if(workload.contestants.begin(), workload.contestants.end(),
                                  [&](const auto& contestant) { return contestant.name == name; });
  return found == workload.contestants.end() ? nullptr : &*found;
}

std::vector<Verdict> verdicts(const WorkloadResult& workload) {
  std::vector<Verdict> result;
  const ContestantResult* ours = find(workload, our_name);
  for (const Target& target : workload.targets) {
    Verdict verdict{.target = target, .figures = {}, .reached = false};
    const ContestantResult* peer = find(workload, target.peer);
    if (ours != nullptr && target.peer.empty()) {
      verdict.figures = values_of(ours->rounds, target.metric);
    } else if (ours != nullptr && peer != nullptr) {
      verdict.figures = ratios(ours->rounds, peer->rounds, target.metric);
    }
    if (const auto spread = spread_of(verdict.figures)) {
      verdict.reached =
          target.at_least ? spread->median >= target.limit : spread->median <= target.limit;
    }
    result.push_back(std::move(verdict));
  }
  return result;
}

std::string to_json(const RunResult& run) { return nlohmann::json(run).dump(1) + "\n"; }

RunResult parse_run(const std::string& json) {
  try {
    auto parsed = nlohmann::json::parse(json);
    // Results that were written by earlier versions have no series.
    for (auto& workload : parsed.at("workloads")) {
      workload.emplace("series", "");
      workload.emplace("size", 0);
    }
    auto run = parsed.get<RunResult>();
    if (run.format == RunResult{}.format) return run;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error{std::string{"not a run of custodian-bench: "} + error.what()};
  }
  throw std::runtime_error{"a run of another format"};
}

}  // namespace custodian::bench
