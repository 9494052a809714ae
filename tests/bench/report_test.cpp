// The reports of a run: text, Markdown, JSON and a picture.

#include "report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "metrics.hpp"
#include "plot.hpp"
#include "support/catch.hpp"

namespace custodian::tests::report_test {
namespace {

using namespace custodian::bench;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// A run in which ours is 2, 3 and 4 times as fast as a peer, which fails after that.
RunResult some_run() {
  WorkloadResult workload;
  workload.name = "lock";
  workload.title = "Lock & unlock";
  workload.parameters = "1 process";
  workload.figure = "cycles_per_s";
  ContestantResult ours{.name = our_name, .version = "1", .does = "locks", .durability = "a log"};
  ContestantResult peer{.name = "peer",
                        .version = "2",
                        .does = "locks, too",
                        .durability = "none",
                        .failure = "it broke"};
  for (const int times : {2, 3, 4}) {
    ours.rounds.push_back({{"cycles_per_s", 1000.0 * times}});
    peer.rounds.push_back({{"cycles_per_s", 1000.0}});
  }
  ours.rounds.push_back({{"cycles_per_s", 9000}});
  peer.rounds.emplace_back();
  workload.contestants = {ours, peer};
  workload.absent = {{.name = "other", .reason = "apt-get install other"}};
  workload.targets = {{"cycles_per_s", "peer", true, 2.5},
                      {"cycles_per_s", "peer", true, 3.5},
                      {"cycles_per_s", "", false, 10'000},
                      {"cycles_per_s", "other", true, 1}};
  RunResult run;
  run.command = "custodian-bench --rounds 4";
  run.machine = "an abacus";
  run.rounds = 4;
  run.seconds = 2;
  run.workloads = {workload};
  return run;
}

TEST_CASE("figures have the digits that count") {
  CHECK(figure(0) == "0");
  CHECK(figure(0.123) == "0.12");
  CHECK(figure(0.0123) == "0.012");
  CHECK(figure(0.001) == "0.0010");
  CHECK(figure(1e-30) == "0.000000");
  CHECK(figure(9.99) == "9.99");
  CHECK(figure(9.999) == "10.0");
  CHECK(figure(99.94) == "99.9");
  CHECK(figure(99.96) == "100");
  CHECK(figure(999.6) == "1,000");
  CHECK(figure(1234567) == "1,234,567");
  CHECK(figure(-1234) == "-1,234");
  CHECK(whole(1) == "1");
  CHECK(whole(1000) == "1,000");
  CHECK(whole(-10'000) == "-10,000");
}

TEST_CASE("a target is held against the median of the rounds") {
  const std::vector<Verdict> all = verdicts(some_run().workloads[0]);
  REQUIRE(all.size() == 4);
  CHECK(all[0].figures == std::vector<double>{2, 3, 4});
  CHECK(all[0].reached);
  CHECK_FALSE(all[1].reached);
  CHECK(all[2].figures == std::vector<double>{2000, 3000, 4000, 9000});
  CHECK(all[2].reached);
  CHECK(all[3].figures.empty());
  CHECK_FALSE(all[3].reached);
}

TEST_CASE("the table tells medians, spans, ratios, who failed and who is absent") {
  const std::string text = to_text(some_run().workloads[0]);
  INFO(text);
  CHECK(contains(text, "3,500 (2,000 .. 9,000)"));
  CHECK(contains(text, "1,000 (1,000 .. 1,000)"));
  CHECK(contains(text, "3.00 x (2.00 .. 4.00)"));
  CHECK(contains(text, "2.50 .. 3.50"));
  CHECK(contains(text, ">= 2.50 x peer"));
  CHECK(contains(text, "reached"));
  CHECK(contains(text, "missed"));
  CHECK(contains(text, "not measured"));
  CHECK(contains(text, "peer        none"));
  CHECK(contains(text, "peer failed: it broke"));
  CHECK(contains(text, "other is absent: apt-get install other"));
}

TEST_CASE("what each contestant does is told once") {
  RunResult run = some_run();
  run.workloads.push_back(run.workloads.front());
  const std::string text = contestants(run);
  INFO(text);
  CHECK(contains(text, "peer 2: locks, too"));
  CHECK(text.find("peer 2") == text.rfind("peer 2"));
}

TEST_CASE("Markdown has the command, the machine, and tables whose rows are alike") {
  const std::string text = to_markdown(some_run());
  INFO(text);
  CHECK(contains(text, "custodian-bench --rounds 4"));
  CHECK(contains(text, "an abacus"));
  CHECK(contains(text,
                 "| Lock & unlock | cycles | >= 2.50 x peer | 3.00 (2.00 .. 4.00) | reached |"));
  CHECK(contains(text, "| peer | 2 | locks, too |"));
  std::size_t columns = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) {
      columns = 0;
      continue;
    }
    const auto bars = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
    if (columns == 0) columns = bars;
    INFO(line);
    CHECK(bars == columns);
  }
}

TEST_CASE("JSON is read back as it was written") {
  const RunResult run = some_run();
  const auto json = nlohmann::json::parse(to_json(run));
  CHECK(json.at("format") == 1);
  CHECK(json.at("workloads").at(0).at("contestants").at(0).at("rounds").at(3).at("cycles_per_s") ==
        9000);
  const RunResult again = parse_run(to_json(run));
  CHECK(to_json(again) == to_json(run));
  CHECK(to_markdown(again) == to_markdown(run));

  RunResult of_a_series = run;
  of_a_series.workloads[0].series = "waiters";
  of_a_series.workloads[0].size = 10;
  const RunResult grown = parse_run(to_json(of_a_series));
  CHECK(grown.workloads[0].series == "waiters");
  CHECK(grown.workloads[0].size == 10);
  CHECK(contains(to_markdown(grown), "## Waiters of one process on one lock"));
  CHECK_FALSE(contains(to_markdown(grown), "## Lock & unlock"));

  auto before_there_were_series = json;
  before_there_were_series.at("workloads").at(0).erase("series");
  before_there_were_series.at("workloads").at(0).erase("size");
  CHECK(to_json(parse_run(before_there_were_series.dump())) == to_json(run));

  CHECK_THROWS_AS(parse_run("{}"), std::runtime_error);
  CHECK_THROWS_AS(parse_run(R"({"workloads": [1]})"), std::runtime_error);
  CHECK_THROWS_AS(parse_run("what"), std::runtime_error);
  RunResult later = run;
  later.format = 2;
  CHECK_THROWS_AS(parse_run(to_json(later)), std::runtime_error);
}

TEST_CASE("the picture has a bar for each peer, and what is text is escaped") {
  const std::string svg = to_svg(some_run());
  INFO(svg);
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "Lock &amp; unlock: cycles"));
  CHECK(contains(svg, ">peer *<"));
  CHECK(contains(svg, "3.00 (2.00 .. 4.00)"));
  CHECK_FALSE(contains(svg, "nan"));

  SECTION("nothing to compare is no picture of it") {
    CHECK_FALSE(contains(to_svg(RunResult{}), "nan"));
    RunResult alone = some_run();
    alone.workloads[0].contestants.pop_back();
    CHECK_FALSE(contains(to_svg(alone), "Lock"));
  }
}

}  // namespace
}  // namespace custodian::tests::report_test
