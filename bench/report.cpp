#include "report.hpp"

#include <algorithm>
#include <sstream>

#include "metrics.hpp"
#include "rows.hpp"
#include "scale.hpp"
#include "scale_report.hpp"

namespace custodian::bench {
namespace {

std::vector<Metric> measured(const WorkloadResult& workload) {
  std::vector<Metric> result;
  for (const Metric& metric : all_metrics()) {
    const std::string name{metric.name};
    if (std::any_of(
            workload.contestants.begin(), workload.contestants.end(),
            [&](const auto& contestant) { return !values_of(contestant.rounds, name).empty(); })) {
      result.push_back(metric);
    }
  }
  return result;
}

/// Returns whether the contestants differ in the durability of their locks, or in their routes.
bool is_mixed(const WorkloadResult& workload) {
  const auto& all = workload.contestants;
  return std::any_of(all.begin(), all.end(), [&](const ContestantResult& one) {
    return one.durability != all.front().durability || one.route != all.front().route;
  });
}

Rows figures(const WorkloadResult& workload) {
  const std::vector<Metric> metrics = measured(workload);
  const bool mixed = is_mixed(workload);
  Rows rows{{"contestant"}};
  if (mixed) rows[0].insert(rows[0].end(), {"durability", "route"});
  for (const Metric& metric : metrics)
    rows[0].push_back(std::string{metric.title} + ", " + std::string{metric.unit});
  for (const ContestantResult& contestant : workload.contestants) {
    Row row{contestant.name};
    if (mixed) row.insert(row.end(), {contestant.durability, contestant.route});
    for (const Metric& metric : metrics)
      row.push_back(with_span(values_of(contestant.rounds, std::string{metric.name})));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Compares ours with each peer, by the workload's figure.
Rows comparison(const WorkloadResult& workload) {
  const ContestantResult* ours = find(workload, our_name);
  if (ours == nullptr) return {};
  const std::string& name = workload.figure;
  Rows rows{{"ours / peer", std::string{metric(name).title}, "quartiles", "rounds"}};
  for (const ContestantResult& peer : workload.contestants) {
    if (&peer == ours) continue;
    const std::vector<double> values = ratios(ours->rounds, peer.rounds, name);
    if (values.empty()) continue;
    rows.push_back({peer.name});
    append(rows.back(), ratio_cells(values));
  }
  return rows.size() > 1 ? rows : Rows{};
}

Row target_row(const Verdict& verdict) {
  const Target& target = verdict.target;
  const Metric& what = metric(target.metric);
  std::string wanted = (target.at_least ? ">= " : "<= ") + figure(target.limit);
  wanted += target.peer.empty() ? " " + std::string{what.unit} : " x " + target.peer;
  std::string word = verdict.reached ? "reached" : "missed";
  if (verdict.figures.empty()) word = "not measured";
  return {std::string{what.title}, wanted, with_span(verdict.figures), word};
}

std::string remarks(const WorkloadResult& workload, const std::string& indent) {
  std::string text;
  for (const ContestantResult& contestant : workload.contestants) {
    if (!contestant.failure.empty())
      text += indent + contestant.name + " failed: " + contestant.failure + "\n";
  }
  for (const Absent& absent : workload.absent)
    text += indent + absent.name + " is absent: " + absent.reason + "\n";
  return text;
}

std::string all_targets(const RunResult& run) {
  Rows rows{{"workload", "figure", "target", "measured", ""}};
  for (const WorkloadResult& workload : run.workloads) {
    for (const Verdict& verdict : verdicts(workload)) {
      Row row = target_row(verdict);
      row.insert(row.begin(), workload.title);
      rows.push_back(std::move(row));
    }
  }
  return rows.size() > 1 ? "## Targets\n\n" + markdown(rows) : "";
}

/// All contestants of the run, each once.
std::vector<ContestantResult> different(const RunResult& run) {
  std::vector<ContestantResult> all;
  for (const WorkloadResult& workload : run.workloads) {
    for (const ContestantResult& one : workload.contestants) {
      if (std::none_of(all.begin(), all.end(),
                       [&](const ContestantResult& other) { return other.name == one.name; })) {
        all.push_back(one);
      }
    }
  }
  return all;
}

std::string all_contestants(const RunResult& run) {
  Rows rows{{"contestant", "version", "a cycle", "durability", "route"}};
  for (const ContestantResult& one : different(run))
    rows.push_back({one.name, one.version, one.does, one.durability, one.route});
  return "## Contestants\n\n" + markdown(rows);
}

}  // namespace

std::string to_text(const WorkloadResult& workload) {
  std::string text = workload.title + " (" + workload.name + "; " + workload.parameters + ")\n";
  text += lines(figures(workload));
  if (const Rows rows = comparison(workload); !rows.empty()) text += "\n" + lines(rows);
  Rows targets{{"target", "", "measured", ""}};
  for (const Verdict& verdict : verdicts(workload)) targets.push_back(target_row(verdict));
  if (targets.size() > 1) text += "\n" + lines(targets);
  if (const std::string told = remarks(workload, "  "); !told.empty()) text += "\n" + told;
  return text;
}

std::string contestants(const RunResult& run) {
  std::string text = "A cycle of each:\n";
  for (const ContestantResult& one : different(run))
    text += "  " + one.name + " " + one.version + ": " + one.does + "\n";
  return text;
}

std::string heading(const RunResult& run) {
  std::ostringstream text;
  text << "machine:  " << run.machine << "\nservers:  " << run.servers << "\ndate:     " << run.date
       << "\ncommand:  " << run.command << "\nmeasured: " << run.rounds << " rounds of "
       << figure(run.seconds) << " s, interleaved; medians of the rounds (least .. most)\n";
  return text.str();
}

std::string to_markdown(const RunResult& run) {
  std::string text = "```\n" + heading(run) + "```\n\n" + all_targets(run);
  for (const Growth& growth : growths(run)) text += to_markdown(growth);
  for (const WorkloadResult& workload : run.workloads) {
    if (!workload.series.empty()) continue;
    text += "## " + workload.title + "\n\n`" + workload.name + "`: " + workload.parameters + "\n\n";
    text += markdown(figures(workload));
    if (const Rows rows = comparison(workload); !rows.empty()) text += markdown(rows);
    if (const std::string told = remarks(workload, "- "); !told.empty()) text += told + "\n";
  }
  return text + all_contestants(run);
}

}  // namespace custodian::bench
