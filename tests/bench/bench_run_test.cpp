// The benchmark runs, and what it writes has a form. How fast anybody is is no test.

#include <fstream>
#include <iterator>

#include "programs/program.hpp"
#include "run_result.hpp"
#include "support/catch.hpp"

namespace custodian::tests {
namespace {

using namespace custodian::bench;

std::string content(const std::string& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST_CASE("a short run of ours and the floor comes to figures, tables and a picture") {
  const Directory directory;
  const std::string json = directory.file("run.json");
  const std::vector<std::string> words{"--only",      "lock,processes,sessions,start,waiters",
                                       "--peers",     "floor",
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
  REQUIRE(told.workloads.size() == 5);
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
          // Of memory, on a small crowd, nothing is known.
          if (name != "memory_per_waiter" && name != "peak_per_waiter") CHECK(value > 0);
          CHECK(value < 1e12);
        }
      }
    }
    // Each of ours was measured: of those that have a peer here.
    for (const Verdict& verdict : verdicts(workload)) {
      if (verdict.target.peer != "curator") CHECK(verdict.figures.size() == 2);
    }
  }
  // One other is woken by a release, whoever measures it when.
  CHECK(values_of(told.workloads[2].contestants[0].rounds, "woken_per_release") ==
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

TEST_CASE("the benchmark tells what there is, and refuses what there is not") {
  const Result list = run(CUSTODIAN_BENCH, {"--list"});
  CHECK(list.status == 0);
  CHECK(contains(list.output, "durability: "));
  CHECK(run(CUSTODIAN_BENCH, {"--only", "nothing"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--peers", "nobody"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--rounds", "0"}).status == 2);
  CHECK(run(CUSTODIAN_BENCH, {"--help"}).status == 0);
}

}  // namespace
}  // namespace custodian::tests
