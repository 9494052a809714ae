// The judge, on hand-made histories: it reports each kind of violation, and no excused event.

#include "judge.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "hand_made_run.hpp"
#include "report.hpp"

namespace custodian::tests::judge_test {

using namespace custodian::chaos;

namespace {

/// A run with one hold after the other, without a fault.
Run quiet_run() {
  Run run;
  run.first =
      "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n"
      "210 write 1 guarded 1\n220 wrote 1 landed 1\n300 released 1 none\n";
  run.second =
      "110 begun 1 a\n310 granted 1 11 0x2 /a/11\n"
      "320 write 1 guarded 1\n330 wrote 1 landed 2\n400 released 1 none\n";
  run.driver += "8000 register a 2\n";
  return run;
}

/// A run in which the first worker is cut off from 250 on, and is notified at `told`. The second
/// worker is granted the lock at 3000.
Run cut(const std::string& told) {
  Run run;
  run.first =
      "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n" + told + " lost 1\n4000 released 1 none\n";
  run.second = "110 begun 1 a\n3000 granted 1 11 0x2 /a/11\n3100 released 1 none\n";
  run.driver += "250 fault 1 client-cut 1.1 a 10\n5000 healed 1\n5100 over 1\n";
  return run;
}

/// A run in which the first worker is stopped while it holds, and writes when it is resumed. The
/// arguments are the outcomes of its guarded, bare and fenced write.
Run stopped(const std::string& guarded, const std::string& bare, const std::string& fenced) {
  Run run;
  run.first =
      "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n"
      "4010 write 1 guarded 1\n4020 wrote 1 " +
      guarded + "\n4020 write 2 bare 1\n4030 wrote 2 " + bare +
      "\n4030 write 3 fenced 1\n4040 wrote 3 " + fenced + "\n4050 lost 1\n4060 released 1 none\n";
  run.second =
      "110 begun 1 a\n3000 granted 1 11 0x2 /a/11\n3010 write 1 fenced 1\n3020 wrote 1 landed 0\n"
      "4100 released 1 none\n";
  run.driver +=
      "250 fault 1 worker-stopped 1.1 a 10\n250 stopped 1.1\n4000 resumed 1.1\n4000 healed 1\n"
      "5100 over 1\n";
  return run;
}

}  // namespace

TEST_CASE("a quiet run breaks no rule") {
  const Verdict verdict = judge(quiet_run().history());
  CHECK(verdict.violations.empty());
  CHECK(verdict.grants == 2);
  CHECK(verdict.losses == 0);
  CHECK(verdict.longest_wait == std::chrono::milliseconds{200});
}

TEST_CASE("a holder that is granted before another lets go is a violation") {
  Run run = quiet_run();
  run.second.replace(run.second.find("310 granted"), 3, "290");
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a holder that never lets go overlaps the next one") {
  Run run = quiet_run();
  run.first.erase(run.first.find("300 released"));
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a holder that was killed believes nothing any more") {
  Run run = quiet_run();
  run.first.erase(run.first.find("300 released"));
  run.driver += "305 killed 1.1\n";
  CHECK(broken(run).empty());
}

TEST_CASE("a holder that was stopped may believe, and its stop excuses no other") {
  CHECK(broken(stopped("refused 0", "landed 5", "refused 0")).empty());

  Run run = stopped("refused 0", "landed 5", "refused 0");
  for (std::size_t at; (at = run.driver.find("ed 1.1\n")) != std::string::npos;)
    run.driver.replace(at, 7, "ed 3.1\n");
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a stop long before the grant excuses nothing") {
  Run run = quiet_run();
  run.second.replace(run.second.find("310 granted"), 3, "290");
  run.driver += "1 stopped 1.1\n150 resumed 1.1\n";
  CHECK(broken(run).empty());  // within the tenth of the session timeout that is left to it
  run = quiet_run();
  for (std::string* worker : {&run.first, &run.second}) {
    for (std::size_t at = 0; at < worker->size(); at = worker->find('\n', at) + 1)
      worker->insert(at, "1");
  }
  run.second.replace(run.second.find("1310 granted"), 4, "1290");
  run.driver += "1 stopped 1.1\n150 resumed 1.1\n";
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a holder whose node an operator deletes may be told after the next grant") {
  Run run;
  run.first = "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n520 lost 1\n600 released 1 none\n";
  run.second = "110 begun 1 a\n510 granted 1 11 0x2 /a/11\n610 released 1 none\n";
  const std::string driver = run.driver;
  run.driver += "500 fault 1 holder-deleted 1.1 a 10\n500 healed 1\n700 over 1\n";
  CHECK(broken(run).empty());
  run.driver = driver + "500 fault 1 holder-deleted 1.1 a 9\n500 healed 1\n700 over 1\n";
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a token that goes back is a violation") {
  Run run = quiet_run();
  run.second.replace(run.second.find("11 0x2"), 2, "9");
  const auto rules = broken(run);
  CHECK(std::ranges::count(rules, Rule::tokens_grow) == 1);
}

TEST_CASE("a token that is granted twice is a violation") {
  Run run = quiet_run();
  run.second.replace(run.second.find("11 0x2"), 2, "10");
  const auto rules = broken(run);
  CHECK(std::ranges::count(rules, Rule::tokens_grow) == 1);
}

TEST_CASE("stale writes are counted, and those that would have landed without the guard") {
  Verdict verdict = judge(stopped("refused 0", "landed 5", "refused 0").history());
  CHECK(verdict.violations.empty());
  CHECK(verdict.writes[WriteKind::guarded].stale_attempted == 1);
  CHECK(verdict.writes[WriteKind::guarded].stale_landed == 0);
  CHECK(verdict.writes[WriteKind::fenced].stale_attempted == 1);
  CHECK(verdict.writes[WriteKind::bare].stale_landed == 1);
}

TEST_CASE("a stale guarded write that lands is a violation") {
  CHECK(broken(stopped("landed 1", "landed 5", "refused 0")) == Rules{Rule::no_stale_write});
}

TEST_CASE("a stale fenced write that lands is a violation") {
  CHECK(broken(stopped("refused 0", "landed 5", "landed 0")) == Rules{Rule::no_stale_write});
}

TEST_CASE("a run in which no stale write would have landed proves nothing") {
  CHECK(broken(stopped("refused 0", "refused 0", "refused 0")) == Rules{Rule::proves_something});
}

TEST_CASE("a guarded write of an old token that lands after one of a newer is a violation") {
  Run run = quiet_run();
  run.first.replace(run.first.find("landed 1"), 8, "landed 2");
  run.second.replace(run.second.find("landed 2"), 8, "landed 1");
  CHECK(broken(run) == Rules{Rule::no_stale_write});
}

TEST_CASE("a gap in the register's versions must be a write whose answer was lost") {
  Run run = quiet_run();
  run.first.replace(run.first.find("landed 1"), 8, "unknown 0");
  CHECK(broken(run).empty());
  run.first.replace(run.first.find("unknown 0"), 9, "refused 0");
  CHECK(broken(run) == Rules{Rule::no_stale_write});
}

TEST_CASE("a write whose answer was lost does not explain a gap after a newer one") {
  Run run = quiet_run();
  run.first.replace(run.first.find("landed 1"), 8, "unknown 0");
  run.second +=
      "450 begun 2 a\n500 granted 2 12 0x2 /a/12\n510 write 2 guarded 2\n"
      "520 wrote 2 landed 4\n530 released 2 none\n";
  run.second.replace(run.second.find("landed 2"), 8, "landed 1");
  run.driver = "0 run 7 2000 5000\n8000 register a 4\n";
  CHECK(std::ranges::count(broken(run), Rule::no_stale_write) >= 1);
}

TEST_CASE("an acquire that never ends is a violation") {
  Run run = quiet_run();
  run.first += "500 begun 2 a\n";
  CHECK(broken(run) == Rules{Rule::no_endless_wait});
  run.driver += "600 killed 1.1\n";
  CHECK(broken(run).empty());
}

TEST_CASE("an acquire that takes longer than the patience without a fault is a violation") {
  Run run = quiet_run();
  run.first += "500 begun 2 a\n5600 ended 2 cancelled\n";
  CHECK(broken(run) == Rules{Rule::no_endless_wait});
  run.driver += "1000 fault 1 leader-killed * - 0\n1100 healed 1\n1200 over 1\n";
  CHECK(broken(run).empty());
}

TEST_CASE("an acquire that fails is a violation, and a deleted one if nobody deletes") {
  Run run = quiet_run();
  run.first += "500 begun 2 a\n600 ended 2 deleted\n";
  CHECK(broken(run) == Rules{Rule::no_failed_acquire});
  run.driver += "550 fault 1 next-deleted 1.1 a 12\n550 healed 1\n700 over 1\n";
  CHECK(broken(run).empty());
  run.first += "800 begun 3 a\n900 ended 3 failed:something\n";
  CHECK(broken(run) == Rules{Rule::no_failed_acquire});
}

TEST_CASE("a holder that is cut off is told before the next grant, and how long before is told") {
  Verdict verdict = judge(cut("2500").history());
  CHECK(verdict.violations.empty());
  const auto& statistics = verdict.faults.at(FaultKind::client_cut);
  CHECK(statistics.lost == 1);
  CHECK(statistics.head_starts == std::vector<Time>{std::chrono::milliseconds{500}});
}

TEST_CASE("a holder that is told after the next grant is a violation") {
  const auto rules = broken(cut("3001"));
  CHECK(std::ranges::count(rules, Rule::notice_before_reuse) == 1);
  CHECK(std::ranges::count(rules, Rule::one_holder) == 1);
}

TEST_CASE("a holder that is told at the very moment of the next grant has no head start") {
  CHECK(broken(cut("3000")) == Rules{Rule::notice_before_reuse});
}

TEST_CASE("a loss without a fault, and one of a worker that no fault concerns, are false alarms") {
  Run run = quiet_run();
  run.first.insert(run.first.find("300 released"), "290 lost 1\n");
  CHECK(broken(run) == Rules{Rule::no_false_alarm});
  const std::string driver = run.driver;
  run.driver = driver + "100 fault 1 client-cut 2.1 a 11\n200 healed 1\n390 over 1\n";
  CHECK(broken(run) == Rules{Rule::no_false_alarm});
  run.driver = driver + "100 fault 1 leader-killed * a 11\n200 healed 1\n390 over 1\n";
  CHECK(broken(run).empty());
  run.driver = driver + "100 fault 1 calm * - 0\n200 healed 1\n390 over 1\n";
  CHECK(broken(run) == Rules{Rule::no_false_alarm});
}

TEST_CASE("a waiter whose node was deleted may be told long after the fault is over") {
  Run run;
  run.first = "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n300 released 1 none\n";
  run.second = "110 begun 1 a\n310 granted 1 11 0x2 /a/11\n315 lost 1\n320 released 1 none\n";
  const std::string driver = run.driver;
  run.driver = driver + "120 fault 1 waiter-deleted 2.1 a 11\n130 healed 1\n140 over 1\n";
  CHECK(broken(run).empty());
  // The deletion of another node of the same worker is no excuse.
  run.driver = driver + "120 fault 1 waiter-deleted 2.1 a 12\n130 healed 1\n140 over 1\n";
  CHECK(broken(run) == Rules{Rule::no_false_alarm});
  run.driver = driver + "120 fault 1 waiter-deleted 2.1 b 11\n130 healed 1\n140 over 1\n";
  CHECK(broken(run) == Rules{Rule::no_false_alarm});
}

TEST_CASE("what is left over on the servers is a violation") {
  Run run = quiet_run();
  History history = run.history();
  history.left["watches"] = 1;
  const auto verdict = judge(history);
  REQUIRE(verdict.violations.size() == 1);
  CHECK(verdict.violations.front().rule == Rule::nothing_left);
}

TEST_CASE("a run that was broken off is incomplete, as is a history that cannot be read") {
  History history = quiet_run().history();
  history.end.reset();
  CHECK(judge(history).violations.front().rule == Rule::complete);

  for (const char* line :
       {"100 begun 1 a", "500 released 7", "500 wrote 9 landed 1", "500 x", "500 begun",
        "500 begun 2 a b", "500 write 2 sideways 1", "-1 begun 2 a", "9223372036854 begun 2 a",
        "500 begun -2 a", "500 begun 2 a 2/2147483647"}) {
    Run run = quiet_run();
    run.first += std::string{line} + "\n";
    CAPTURE(line);
    CHECK(broken(run) == Rules{Rule::complete});
  }
}

TEST_CASE("a line that was cut off is malformed") {
  History history;
  std::istringstream lines{"100 begun 1 a\n200 granted 1 10 0x1 /a/1"};
  read_worker(lines, "1.1", history);
  CHECK(history.malformed.size() == 1);
}

TEST_CASE("every kind of fault has a name of its own") {
  for (const FaultKind kind : all_fault_kinds) CHECK(parse_fault_kind(to_string(kind)) == kind);
  CHECK_FALSE(parse_fault_kind("weather"));
}

TEST_CASE("a report ends with the number of violations") {
  const History history = cut("3000").history();
  std::ostringstream out;
  print(out, history, judge(history));
  CHECK(out.str().ends_with("\n1 violations\n"));
  CHECK(out.str().find("client-cut") != std::string::npos);
}

TEST_CASE("as many as a lock lets in may believe at once, and one more is a violation") {
  const auto with_shares = [](const std::string& first, const std::string& second) {
    Run run;
    run.first = "100 begun 1 a " + first +
                "\n200 granted 1 10 0x1 /a/10\n1000 released 1 none\n"
                "101 begun 2 a 1/3\n201 granted 2 11 0x1 /a/11\n1000 released 2 none\n";
    run.second = "110 begun 1 a " + second + "\n310 granted 1 12 0x2 /a/12\n400 released 1 none\n";
    return run;
  };
  CHECK(broken(with_shares("1/3", "1/3")).empty());
  CHECK(broken(with_shares("1/3", "2/3")) == Rules{Rule::one_holder});
  CHECK(broken(with_shares("2/3", "1/3")) == Rules{Rule::one_holder});
  CHECK(broken(with_shares("3/3", "1/3")) == Rules{Rule::one_holder, Rule::one_holder});
}

TEST_CASE("tokens of those who share need not grow; those of who excludes them must") {
  Run run = quiet_run();
  const auto shares = [&](const std::string& first, const std::string& second) {
    Run shared = run;
    shared.first.insert(shared.first.find(" a\n") + 2, " " + first);
    shared.second.insert(shared.second.find(" a\n") + 2, " " + second);
    shared.second.replace(shared.second.find("11 0x2"), 2, "9");
    shared.driver = "0 run 7 2000 5000\n";
    return std::ranges::count(broken(shared), Rule::tokens_grow);
  };
  CHECK(shares("1/9", "1/9") == 0);
  CHECK(shares("1/9", "9/9") == 1);
  CHECK(shares("9/9", "1/9") == 1);
  run.second.replace(run.second.find("11 0x2"), 2, "10");
  run.first.insert(run.first.find(" a\n") + 2, " 1/9");
  run.second.insert(run.second.find(" a\n") + 2, " 1/9");
  CHECK(std::ranges::count(broken(run), Rule::tokens_grow) == 1);  // granted twice
}

TEST_CASE("a lock that lets in several, and had one at a time, proves nothing") {
  std::ostringstream lines;
  for (int i = 1; i <= 100; ++i) {
    lines << i * 10 << " begun " << i << " a 1/2\n"
          << i * 10 << " granted " << i << ' ' << i << " 0x1 /a/" << i << '\n'
          << i * 10 << " released " << i << " none\n";
  }
  Run run;
  run.first = lines.str();
  CHECK(broken(run) == Rules{Rule::proves_something});
}

TEST_CASE("a lock has not passed on to those who share it") {
  Run run = cut("3050");
  CHECK(broken(run) == Rules{Rule::one_holder, Rule::notice_before_reuse});
  for (std::string* worker : {&run.first, &run.second})
    worker->insert(worker->find(" a\n") + 2, " 1/2");
  CHECK(broken(run).empty());
}

TEST_CASE("a share that is none is malformed") {
  for (const std::string share : {"0/1", "2/1", "1:2", "1", "x"}) {
    Run run = quiet_run();
    run.first.insert(run.first.find(" a\n") + 2, " " + share);
    CHECK_FALSE(run.history().malformed.empty());
  }
}

}  // namespace custodian::tests::judge_test
