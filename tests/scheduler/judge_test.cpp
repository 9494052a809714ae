// The judge of the scheduler's runs finds each kind of violation.

#include "judge.hpp"

#include <algorithm>
#include <sstream>

#include "programs/program.hpp"
#include "sqlite.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;

namespace custodian::tests::scheduler::judge_test {
namespace {

/// A good run: A is stopped in the middle of job 2, which B repeats; B is killed in the middle of
/// job 3, which C repeats. The tables have no constraints, so that tests can spoil them.
struct Run {
  Directory directory;
  Account account;
  sqlite::Connection database{directory.file("jobs"), 1s};

  Run() {
    account.database = directory.file("jobs");
    account.jobs = 3;
    // Times are in milliseconds, for readability.
    database.execute(R"(
      CREATE TABLE jobs (id);
      CREATE TABLE attempts (job, number, leader, epoch, token, began, ended);
      CREATE TABLE results (job, attempt, result);
      CREATE TABLE refusals (leader, epoch, token, at);
      INSERT INTO jobs VALUES (1), (2), (3);
      INSERT INTO attempts VALUES
        (1, 1, 'A', 0, 10, 1100, 1200), (2, 1, 'A', 0, 10, 1300, NULL),
        (2, 2, 'B', 0, 11, 3100, 3200), (3, 1, 'B', 0, 11, 3300, NULL),
        (3, 2, 'C', 0, 12, 6100, 6200);
      UPDATE attempts SET began = began * 1000000, ended = ended * 1000000;
      INSERT INTO results VALUES (1, 1, '1'), (2, 2, '4'), (3, 2, '9');
      INSERT INTO refusals VALUES ('A', 0, 10, 5100);
    )");
    account.events = {
        {1000ms, "A", EventKind::took_over, 10}, {1100ms, "A", EventKind::running, 1},
        {1200ms, "A", EventKind::recorded, 1},   {1300ms, "A", EventKind::running, 2},
        {3000ms, "B", EventKind::took_over, 11}, {3100ms, "B", EventKind::running, 2},
        {3200ms, "B", EventKind::recorded, 2},   {3300ms, "B", EventKind::running, 3},
        {5100ms, "A", EventKind::refused, 10},   {5101ms, "A", EventKind::leads_no_more, 0},
        {6000ms, "C", EventKind::took_over, 12}, {6100ms, "C", EventKind::running, 3},
        {6200ms, "C", EventKind::recorded, 3},   {6300ms, "C", EventKind::leads_no_more, 0},
    };
    account.faults = {{FaultKind::stopped, "A", 10, 1350ms, 5000ms},
                      {FaultKind::killed, "B", 11, 3350ms, 3360ms}};
  }

  Event& event(const std::string& instance, EventKind kind) {
    return *std::ranges::find_if(account.events, [&](const Event& each) {
      return each.instance == instance && each.kind == kind;
    });
  }
  void forget(const std::string& instance, EventKind kind) {
    std::erase_if(account.events, [&](const Event& each) {
      return each.instance == instance && each.kind == kind;
    });
  }
  /// Returns whether the description of a violation contains these words.
  [[nodiscard]] bool is_blamed_for(const std::string& words) const {
    const Verdict verdict = judge(account);
    for (const std::string& violation : verdict.violations) UNSCOPED_INFO(violation);
    return std::ranges::any_of(verdict.violations, [&](const std::string& violation) {
      return contains(violation, words);
    });
  }
};

TEST_CASE("a good run has no violation, and is counted") {
  const Run run;
  const Verdict verdict = judge(run.account);
  for (const std::string& violation : verdict.violations) UNSCOPED_INFO(violation);
  CHECK(verdict.violations.empty());
  CHECK(verdict.jobs == 3);
  CHECK(verdict.results == 3);
  CHECK(verdict.attempts == 5);
  CHECK(verdict.reattempts ==
        std::vector<std::string>{"attempt 1 of job 2, by A with token 10, did not end: stopped",
                                 "attempt 1 of job 3, by B with token 11, did not end: killed"});
  using Counts = std::map<FaultKind, int>;
  CHECK(verdict.reattempts_by_cause == Counts{{FaultKind::killed, 1}, {FaultKind::stopped, 1}});
  CHECK(verdict.overlaps_by_cause == Counts{{FaultKind::stopped, 1}});
  CHECK(verdict.refused_by_cause == Counts{{FaultKind::stopped, 1}});
  CHECK(verdict.takeovers.at(FaultKind::stopped) == std::vector<Time>{1650ms});
  CHECK(verdict.takeovers.at(FaultKind::killed) == std::vector<Time>{2650ms});
  std::ostringstream text;
  print(text, verdict);
  INFO(text.str());
  CHECK(contains(text.str(), "3 jobs, 3 results, 5 attempts\n"));
  CHECK(contains(text.str(), "0 violations\n"));
}

TEST_CASE("jobs whose results are not there exactly once, or wrong, are a violation") {
  Run run;
  SECTION("no result") {
    run.database.execute("DELETE FROM results WHERE job = 2");
    CHECK(run.is_blamed_for("job 2 has not one result"));
  }
  SECTION("two") {
    run.database.execute("INSERT INTO results VALUES (2, 2, '4')");
    CHECK(run.is_blamed_for("job 2 has not one result"));
  }
  SECTION("a wrong one") {
    run.database.execute("UPDATE results SET result = '5' WHERE job = 2");
    CHECK(run.is_blamed_for("job 2 has a wrong result"));
  }
  SECTION("one of no job") {
    run.database.execute("DELETE FROM jobs WHERE id = 3");
    CHECK(run.is_blamed_for("2 jobs of 3"));
    CHECK(run.is_blamed_for("job 3 has a result and is none"));
  }
  SECTION("one of an attempt that did not end") {
    run.database.execute("UPDATE results SET attempt = 1 WHERE job = 2");
    CHECK(run.is_blamed_for("job 2 has a result of another attempt"));
  }
}

TEST_CASE("attempts that do not follow each other are a violation") {
  Run run;
  SECTION("one is missing") {
    run.database.execute("DELETE FROM attempts WHERE job = 2 AND number = 1");
    CHECK(run.is_blamed_for("job 2 has attempts that are not numbered from 1"));
  }
  SECTION("two have ended") {
    run.database.execute("UPDATE attempts SET ended = 3150000000 WHERE job = 2 AND number = 1");
    CHECK(run.is_blamed_for("job 2 has not one attempt that ended"));
  }
  SECTION("one comes after the end") {
    run.database.execute("INSERT INTO attempts VALUES (1, 2, 'C', 0, 12, 6210000000, NULL)");
    CHECK(run.is_blamed_for("job 1 has an attempt after the one that ended"));
  }
}

TEST_CASE("a stale write that has landed is a violation") {
  Run run;
  SECTION("a result") {
    run.database.execute("UPDATE attempts SET ended = 5100000000 WHERE job = 1");
    CHECK(run.is_blamed_for("a stale write about job 1 has landed"));
  }
  SECTION("an attempt") {
    run.database.execute("UPDATE attempts SET began = 5100000000 WHERE job = 2 AND number = 1");
    CHECK(run.is_blamed_for("a stale write about job 2 has landed"));
  }
}

TEST_CASE("a job that was run again without a fault is a violation") {
  Run run;
  SECTION("none at all") {
    run.account.faults.erase(run.account.faults.begin());
    CHECK(run.is_blamed_for("attempt 1 of job 2, by A with token 10, did not end: no cause"));
  }
  SECTION("one in another of its turns") {
    run.account.faults[0].token = 9;
    CHECK(run.is_blamed_for("attempt 1 of job 2, by A with token 10, did not end: no cause"));
  }
}

TEST_CASE("a refusal of somebody who was not stopped, or one that nobody tells, is a violation") {
  Run run;
  SECTION("not stopped") {
    run.database.execute("UPDATE refusals SET leader = 'C', token = 12");
    CHECK(run.is_blamed_for("C was refused with token 12"));
  }
  SECTION("not told") {
    run.forget("A", EventKind::refused);
    CHECK(run.is_blamed_for("1 writes were refused, and 0 leaders say so"));
  }
}

TEST_CASE("two leaders at once are a violation, unless the first was stopped or cut off") {
  Run run;
  SECTION("cut off") {
    run.account.faults[0].kind = FaultKind::cut_off;
    CHECK(judge(run.account).violations.empty());
    CHECK(judge(run.account).overlaps_by_cause.contains(FaultKind::cut_off));
  }
  SECTION("killed") {
    run.account.faults[0].kind = FaultKind::killed;
    CHECK(run.is_blamed_for("B took over with token 11 after A with token 10 while this one led"));
    CHECK(run.is_blamed_for("attempt 1 of job 2, by A with token 10, went on beside attempt 2"));
  }
  SECTION("stopped only later") {
    run.account.faults[0].from = 4s;
    CHECK(run.is_blamed_for("B took over with token 11 after A with token 10 while this one led"));
    CHECK(run.is_blamed_for("attempt 1 of job 2, by A with token 10, went on beside attempt 2"));
  }
}

TEST_CASE("a leader that comes with no greater token, or leads for ever, is a violation") {
  Run run;
  SECTION("no greater token") {
    run.event("C", EventKind::took_over).number = 11;
    CHECK(run.is_blamed_for("C took over with token 11 after B with token 11, which is not less"));
  }
  SECTION("for ever") {
    run.forget("C", EventKind::leads_no_more);
    CHECK(run.is_blamed_for("C leads for ever with token 12"));
  }
  SECTION("with a job that never ends") {
    run.forget("A", EventKind::leads_no_more);
    run.forget("A", EventKind::refused);
    CHECK(run.is_blamed_for("attempt 1 of job 2, by A with token 10, has no end"));
  }
}

TEST_CASE("a fault after which nobody took over is a violation") {
  Run run;
  run.account.faults.push_back({FaultKind::killed, "C", 12, 6400ms, 6400ms});
  CHECK(run.is_blamed_for("nobody took over from C"));
}

TEST_CASE("what an instance says is read as it is meant") {
  const auto read = [](const std::string& line) { return parse_event(line).value_or(Event{}); };
  const Event running =
      read("1234.500000 A.1: running job 17 (attempt 2, the first by X did not end)");
  CHECK(running.at == 1234500ms);
  CHECK(running.instance == "A.1");
  CHECK(running.kind == EventKind::running);
  CHECK(running.number == 17);
  CHECK(read("1.0 A: refused: stale token 5, B came with token 6").kind == EventKind::refused);
  CHECK(read("1.0 A: refused: stale token 5, B came with token 6").number == 5);
  CHECK(read("1.0 A: leads no more: asked to end").kind == EventKind::leads_no_more);
  CHECK_FALSE(parse_event("1.0 A: ends; 0 jobs without a result, 0 stale writes refused"));
  CHECK_FALSE(parse_event("A: took over with token 5"));
  CHECK_FALSE(parse_event(""));
}

}  // namespace
}  // namespace custodian::tests::scheduler::judge_test
