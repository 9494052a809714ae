// The scheduler's leaders are killed, cut off and stopped.

#include <iostream>

#include "judge.hpp"
#include "programs/program.hpp"
#include "stage.hpp"
#include "support/catch.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::scheduler::takeover_test {
namespace {

constexpr int rounds = CUSTODIAN_ROUNDS;
constexpr std::chrono::milliseconds session_timeout{CUSTODIAN_SESSION_TIMEOUT_MS};

/// Plays each fault once a round. The instances' output is shown if the run does not end.
void play(Stage& stage) {
  try {
    for (int round = 0; round < rounds; ++round) {
      for (const FaultKind kind : all_fault_kinds) stage.play(kind);
    }
    stage.finish();
  } catch (const std::exception& error) {
    FAIL(error.what() << "\n" << stage.transcript());
  }
}

TEST_CASE("three instances run 200 jobs, and each has one result, whatever becomes of the leader") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory directory;
  Stage stage{{.jobs = 200,
               .session_timeout = session_timeout,
               .job_time = std::chrono::milliseconds{100},
               .database = directory.file("jobs")}};
  play(stage);

  const Verdict verdict = judge(stage.account());
  print(std::cout, verdict);
  if (!verdict.violations.empty()) FAIL(stage.transcript());
  CHECK(verdict.jobs == 200);
  CHECK(verdict.results == 200);
  // Each leader that was stopped offered a stale result when it continued.
  CHECK(verdict.refused_by_cause.at(FaultKind::stopped) == rounds);
  CHECK_FALSE(verdict.reattempts.empty());
  for (const FaultKind kind : all_fault_kinds) {
    INFO(to_string(kind));
    CHECK(verdict.takeovers.at(kind).size() >= rounds);
  }

  // The server keeps the node of a killed instance until its session has expired.
  Client client{plain_options_for(stage.server().connect_string())};
  CHECK(eventually([&] { return names_below(client, std::string{Stage::path}).empty(); }));
}

}  // namespace
}  // namespace custodian::tests::scheduler::takeover_test
