// The series that show how figures grow with size: workloads, points, tables and panels.

#include "scale.hpp"

#include <algorithm>
#include <set>

#include "metrics.hpp"
#include "scale_plot.hpp"
#include "scale_report.hpp"
#include "support/catch.hpp"

namespace custodian::tests::scale_test {
namespace {

using namespace custodian::bench;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto place = text.find(part); place != text.npos; place = text.find(part, place + 1))
    ++count;
  return count;
}

WorkloadResult sessions(int size, std::vector<Metrics> ours, std::vector<Metrics> curators) {
  WorkloadResult workload;
  workload.name = "scale-sessions-" + std::to_string(size);
  workload.figure = "bytes_per_cycle";
  workload.series = "sessions";
  workload.size = size;
  workload.contestants.push_back({.name = our_name, .rounds = std::move(ours)});
  workload.contestants.push_back({.name = "curator", .rounds = std::move(curators)});
  return workload;
}

/// A run with its sizes in the wrong order, and with a workload that belongs to no series. Curator
/// fails at the largest size.
RunResult some_run() {
  RunResult run;
  run.rounds = 2;
  run.workloads.push_back(sessions(1000, {{{"bytes_per_cycle", 5000}}}, {{}}));
  run.workloads.back().contestants[1].failure = "it broke";
  WorkloadResult other;
  other.name = other.title = "sessions";
  other.figure = "bytes_per_cycle";
  run.workloads.push_back(other);
  run.workloads.push_back(sessions(1,
                                   {{{"bytes_per_cycle", 100}, {"woken_per_release", 0}},
                                    {{"bytes_per_cycle", 300}, {"woken_per_release", 0}}},
                                   {{{"bytes_per_cycle", 400}}, {{"bytes_per_cycle", 600}}}));
  for (WorkloadResult& workload : run.workloads)
    workload.absent = {{.name = "kazoo", .reason = "not here"}};
  return run;
}

TEST_CASE("there is a workload for each size of each series, with its number where it belongs") {
  std::set<std::string> names;
  std::size_t sizes = 0;
  for (const Series& series : all_series()) {
    sizes += series.sizes.size();
    CHECK(std::is_sorted(series.sizes.begin(), series.sizes.end()));
    for (const std::string& name : series.metrics) CHECK_NOTHROW(metric(name));
  }
  for (const Workload& workload : scale_workloads()) {
    INFO(workload.name);
    CHECK(names.insert(workload.name).second);
    CHECK(workload.contestants.front() == our_name);
    CHECK(workload.targets.empty());
    CHECK(contains(workload.name, workload.series));
    CHECK(contains(
        parameters(workload),
        std::to_string(workload.series == "sessions" ? workload.size + 1 : workload.size)));
  }
  CHECK(names.size() == sizes);
}

TEST_CASE("of sessions one more holds the lock, and each has a thread") {
  for (const Workload& workload : scale_workloads({7})) {
    INFO(workload.name);
    CHECK(workload.waiters == (workload.series == "waiters" ? 7 : 0));
    CHECK(workload.locks == (workload.series == "held" ? 7 : 0));
    CHECK(workload.sessions == (workload.series == "sessions" ? 8 : 1));
    CHECK(workload.threads == workload.sessions);
  }
}

TEST_CASE("other sizes are for all series, each once, ascending") {
  const std::vector<Workload> all = scale_workloads({30, 2, 30});
  REQUIRE(all.size() == 2 * all_series().size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i].size == (i % 2 == 0 ? 2 : 30));
}

TEST_CASE("a run has the series of which it has a size, ascending") {
  const std::vector<Growth> all = growths(some_run());
  REQUIRE(all.size() == 1);
  CHECK(all[0].series.name == "sessions");
  REQUIRE(all[0].sizes.size() == 2);
  CHECK(all[0].sizes[0].size == 1);
  CHECK(all[0].sizes[1].size == 1000);
  CHECK(contestants_of(all[0]) == std::vector<std::string>{our_name, "curator"});
  CHECK(growths(RunResult{}).empty());
}

TEST_CASE("a point is the rounds' median, where there was one") {
  const Growth growth = growths(some_run()).at(0);
  const auto ours = points(growth, our_name, "bytes_per_cycle");
  REQUIRE(ours.size() == 2);
  CHECK(ours[0].size == 1);
  CHECK(ours[0].value.median == 200);
  CHECK(ours[0].value.min == 100);
  CHECK(ours[0].value.max == 300);
  CHECK(ours[1].size == 1000);
  CHECK(points(growth, "curator", "bytes_per_cycle").size() == 1);
  CHECK(points(growth, "nobody", "bytes_per_cycle").empty());
  CHECK(points(growth, our_name, "drained_per_s").empty());
}

TEST_CASE("an axis is of whole powers of ten, with all values in it") {
  const LogAxis axis = LogAxis::around({3, 0, 4'000, -1});
  CHECK(axis.from == 0);
  CHECK(axis.to == 4);
  CHECK(axis.part(1) == Approx(0));
  CHECK(axis.part(100) == Approx(0.5));
  CHECK(axis.part(10'000) == Approx(1));

  CHECK(LogAxis::around({0.02}).from == -2);
  CHECK(LogAxis::around({0.02}).to == -1);
  // An axis has a length even if all values are the same.
  CHECK(LogAxis::around({10, 10}).part(10) == Approx(0.5));
  CHECK(LogAxis::around({10, 10}).part(100) == Approx(1));
  CHECK(LogAxis::around({}).to > LogAxis::around({}).from);
}

TEST_CASE("a panel is a metric that somebody has above nothing") {
  const std::vector<Panel> all = panels(growths(some_run()).at(0));
  REQUIRE(all.size() == 1);
  CHECK(all[0].metric == "bytes_per_cycle");
  CHECK(all[0].x.from == 0);
  CHECK(all[0].x.to == 3);
  // The axis contains the values of all rounds, not only the medians.
  CHECK(all[0].y.from == 2);
  CHECK(all[0].y.to == 4);
  REQUIRE(all[0].curves.size() == 2);
  CHECK(all[0].curves[0].points.size() == 2);
  CHECK(all[0].curves[1].contestant == "curator");
  CHECK(all[0].curves[1].points.size() == 1);
}

TEST_CASE("the picture of series has axes, a line for each contestant, and a dot for each point") {
  const std::string svg = to_scale_svg(some_run());
  INFO(svg);
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "Sessions that wait for one lock"));
  CHECK(contains(svg, ">from servers, B/cycle<"));
  CHECK(contains(svg, ">sessions that wait<"));
  CHECK(contains(svg, ">1,000<"));
  CHECK(contains(svg, ">10,000<"));
  CHECK(times(svg, "<polyline ") == 2);
  // Besides the points, the legend has a circle for each contestant.
  CHECK(times(svg, "<circle ") == 3 + 2);
  CHECK_FALSE(contains(svg, "nan"));
  CHECK_FALSE(contains(svg, "inf"));
  CHECK_FALSE(contains(to_scale_svg(RunResult{}), "nan"));
}

TEST_CASE("a series is one table, and one of ratios") {
  const Growth growth = growths(some_run()).at(0);
  const std::string text = to_text(growth);
  INFO(text);
  CHECK(contains(text, "Sessions that wait for one lock (sessions)\n"));
  CHECK(contains(text, "200 (100 .. 300)"));
  CHECK(contains(text, "0.38 x (0.25 .. 0.50)"));
  CHECK(contains(text, "  1,000               ours "));
  CHECK(contains(text, "at 1,000 curator failed: it broke"));
  CHECK(times(text, "kazoo is absent: not here") == 1);

  const std::string page = to_markdown(growth);
  INFO(page);
  CHECK(contains(page, "| 1 | curator | - | 500 (400 .. 600) | - |\n"));
  CHECK(contains(page, "| 1 | curator | 0.38 x (0.25 .. 0.50) | 0.31 .. 0.44 | 2 |\n"));
  CHECK(contains(page, "- kazoo is absent"));

  SECTION("without a peer there are no ratios") {
    Growth alone = growth;
    for (WorkloadResult& workload : alone.sizes) workload.contestants.resize(1);
    CHECK_FALSE(contains(to_text(alone), "ours / peer"));
    CHECK_FALSE(contains(to_markdown(alone), "ours / peer"));
  }
}

}  // namespace
}  // namespace custodian::tests::scale_test
