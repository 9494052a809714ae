// The benchmark runs, and its output has the right form. Speed is not tested.

#include <fstream>
#include <iterator>

#include "programs/program.hpp"
#include "run_result.hpp"
#include "scale.hpp"
#include "support/catch.hpp"

namespace custodian::tests::bench_run_test {
namespace {

using namespace custodian::bench;

std::string content(const std::string& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST_CASE("a short run of ours and the floor comes to figures, tables and a picture") {
  const Directory directory;
  const std::string json = directory.file("run.json");
  const std::vector<std::string> words{
      "--only",      "lock,batch,processes,readwrite,sessions,start,waiters",
      "--peers",     "floor,floor-threads",
      "--rounds",    "2",
      "--seconds",   "0.2",
      "--warm-up",   "0.1",
      "--queue",     "4",
      "--waiters",   "20",
      "--directory", directory.file("."),
      "--json",      json,
      "--markdown",  directory.file("run.md"),
      "--plot",      directory.file("run.svg")};
  const Result result = run(CUSTODIAN_BENCH, words);
  INFO(result.output);
  REQUIRE(result.status == 0);

  const auto told = parse_run(content(json));
  CHECK(contains(told.command, "custodian-bench --only lock,"));
  REQUIRE(told.workloads.size() == 7);
  for (const WorkloadResult& workload : told.workloads) {
    INFO(workload.name);
    const bool of_ours_alone = workload.name == "waiters" || workload.name == "sessions";
    REQUIRE(workload.contestants.size() == (of_ours_alone ? 1U : 2U));
    for (const ContestantResult& contestant : workload.contestants) {
      INFO(contestant.name);
      CHECK(contestant.failure.empty());
      REQUIRE(contestant.rounds.size() == 2);
      for (const Metrics& metrics : contestant.rounds) {
        CHECK_FALSE(metrics.empty());
        for (const auto& [name, value] : metrics) {
          INFO(name << " " << value);
          // With few clients the memory figures mean nothing, and without servers there are no
          // requests.
          const bool may_be_none = contestant.name == "floor-threads" ||
                                   name == "memory_per_waiter" || name == "peak_per_waiter";
          if (!may_be_none || name == "cycles_per_s") CHECK(value > 0);
          CHECK(value < 1e12);
        }
      }
    }
    // Each target of ours was measured, unless its peer may be missing on this machine.
    for (const Verdict& verdict : verdicts(workload)) {
      const std::string& peer = verdict.target.peer;
      if (peer.empty() || peer == "floor") CHECK(verdict.figures.size() == 2);
    }
  }
  // Each release wakes one other session.
  CHECK(values_of(told.workloads[4].contestants[0].rounds, "woken_per_release") ==
        std::vector<double>{1, 1});
  CHECK(contains(content(directory.file("run.md")), "## Targets"));
  CHECK(contains(content(directory.file("run.svg")), "<svg "));

  SECTION("and can be told again later") {
    const Result again = run(CUSTODIAN_BENCH, {"--from", json});
    INFO(again.output);
    CHECK(again.status == 0);
    CHECK(contains(again.output, "Hand-over") == false);
    CHECK(contains(again.output, "8 processes, one lock"));
    CHECK(contains(again.output, told.machine));
  }
}

TEST_CASE("a short run of the series comes to figures, tables and a picture") {
  const Directory directory;
  const std::string json = directory.file("run.json");
  const Result result =
      run(CUSTODIAN_BENCH,
          {"--scale", "--sizes", "1,3", "--peers", "floor", "--rounds", "1", "--seconds", "0.2",
           "--warm-up", "0.1", "--directory", directory.file("."), "--json", json});
  INFO(result.output);
  REQUIRE(result.status == 0);

  const auto told = parse_run(content(json));
  const std::vector<Growth> all = growths(told);
  REQUIRE(all.size() == all_series().size());
  for (const Growth& growth : all) {
    REQUIRE(growth.sizes.size() == 2);
    for (const std::string& name : growth.series.metrics) {
      INFO(growth.series.name << " " << name);
      const std::vector<GrowthPoint> mine = points(growth, our_name, name);
      REQUIRE(mine.size() == 2);
      CHECK(mine[0].size == 1);
      CHECK(mine[1].size == 3);
      // With few clients the memory figures mean nothing.
      if (name.starts_with("memory")) continue;
      CHECK(mine[0].value.median > 0);
      CHECK(mine[1].value.median > 0);
    }
    CHECK(contains(result.output, growth.series.title));
  }
  const std::vector<GrowthPoint> woken = points(all.at(1), our_name, "woken_per_release");
  CHECK(woken.at(0).value.median == 1);
  CHECK(woken.at(1).value.median == 1);

  const Result again = run(CUSTODIAN_BENCH, {"--from", json, "--plot", directory.file("run.svg"),
                                             "--markdown", directory.file("run.md")});
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK(contains(again.output, all.at(0).series.title));
  CHECK(contains(content(directory.file("run.svg")), "<polyline "));
  CHECK(contains(content(directory.file("run.md")), "## " + all.at(0).series.title));
}

TEST_CASE("another build's driver takes part beside ours") {
  const Directory directory;
  const std::string json = directory.file("run.json");
  const Result result = run(
      CUSTODIAN_BENCH, {"--only", "lock", "--peers", "floor", "--before",
                        std::string{CUSTODIAN_BENCH} + "-ours", "--rounds", "1", "--seconds", "0.2",
                        "--warm-up", "0.1", "--directory", directory.file("."), "--json", json});
  INFO(result.output);
  REQUIRE(result.status == 0);
  const auto contestants = parse_run(content(json)).workloads.at(0).contestants;
  REQUIRE(contestants.size() == 3);
  const ContestantResult& before = contestants.back();
  CHECK(before.name == our_name_before);
  CHECK(before.failure.empty());
  REQUIRE(before.rounds.size() == 1);
  CHECK(before.rounds.front().at("cycles_per_s") > 0);
}

TEST_CASE("the benchmark tells what there is, and refuses what there is not") {
  const Result list = run(CUSTODIAN_BENCH, {"--list"});
  CHECK(list.status == 0);
  CHECK(contains(list.output, "durability: "));
  CHECK(run(CUSTODIAN_BENCH, {"--only", "nothing"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--peers", "nobody"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--before", "/nothing"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--rounds", "0"}).status == 2);
  CHECK(contains(list.output, "  held: "));
  CHECK(run(CUSTODIAN_BENCH, {"--scale", "--only", "lock"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--sizes", "1"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--scale", "--sizes", "0"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--help"}).status == 0);
}

}  // namespace
}  // namespace custodian::tests::bench_run_test
