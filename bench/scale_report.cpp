#include "scale_report.hpp"

#include <algorithm>

#include "metrics.hpp"
#include "rows.hpp"

namespace custodian::bench {
namespace {

Rows figures(const Growth& growth) {
  Rows rows{{growth.series.axis, "contestant"}};
  for (const std::string& name : growth.series.metrics) {
    const Metric& one = metric(name);
    rows[0].push_back(std::string{one.title} + ", " + std::string{one.unit});
  }
  for (const WorkloadResult& workload : growth.sizes) {
    for (const ContestantResult& contestant : workload.contestants) {
      Row row{whole(workload.size), contestant.name};
      for (const std::string& name : growth.series.metrics)
        row.push_back(with_span(values_of(contestant.rounds, name)));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Compares ours with each peer; empty without peers.
Rows comparison(const Growth& growth) {
  Rows rows;
  for (const WorkloadResult& workload : growth.sizes) {
    const ContestantResult* ours = find(workload, our_name);
    if (ours == nullptr) continue;
    if (rows.empty()) {
      rows.push_back({growth.series.axis, "ours / peer", std::string{metric(workload.figure).title},
                      "quartiles", "rounds"});
    }
    for (const ContestantResult& peer : workload.contestants) {
      if (&peer == ours) continue;
      const std::vector<double> values = ratios(ours->rounds, peer.rounds, workload.figure);
      if (values.empty()) continue;
      rows.push_back({whole(workload.size), peer.name});
      append(rows.back(), ratio_cells(values));
    }
  }
  return rows.size() > 1 ? rows : Rows{};
}

/// Lists each failure, and each absent contestant once.
std::string remarks(const Growth& growth, const std::string& indent) {
  std::string text;
  std::vector<std::string> told;
  for (const WorkloadResult& workload : growth.sizes) {
    for (const ContestantResult& contestant : workload.contestants) {
      if (!contestant.failure.empty())
        text += indent + "at " + whole(workload.size) + " " + contestant.name +
                " failed: " + contestant.failure + "\n";
    }
    for (const Absent& absent : workload.absent) {
      if (std::find(told.begin(), told.end(), absent.name) != told.end()) continue;
      told.push_back(absent.name);
      text += indent + absent.name + " is absent: " + absent.reason + "\n";
    }
  }
  return text;
}

}  // namespace

std::string to_text(const Growth& growth) {
  std::string text = growth.series.title + " (" + growth.series.name + ")\n";
  text += lines(figures(growth));
  if (const Rows rows = comparison(growth); !rows.empty()) text += "\n" + lines(rows);
  if (const std::string told = remarks(growth, "  "); !told.empty()) text += "\n" + told;
  return text;
}

std::string to_markdown(const Growth& growth) {
  std::string text = "## " + growth.series.title + "\n\n" + markdown(figures(growth));
  if (const Rows rows = comparison(growth); !rows.empty()) text += markdown(rows);
  if (const std::string told = remarks(growth, "- "); !told.empty()) text += told + "\n";
  return text;
}

}  // namespace custodian::bench
