// The judge, on histories of a lock that processes pass on among their own waiters: some rules are
// weaker there, and some are not.

#include <algorithm>
#include <sstream>
#include <string>

#include "hand_made_run.hpp"

namespace custodian::tests::passing_on_test {

using namespace custodian::chaos;

namespace {

/// A run in which the first worker passes the lock on once, and then lets the second have it.
Run passing_run() {
  Run run;
  run.first =
      "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n"
      "210 write 1 guarded 1\n220 wrote 1 landed 1\n300 released 1 none\n"
      "110 begun 2 a\n310 granted 2 0:10:1 0x1 /a/10\n"
      "320 write 2 guarded 2\n330 wrote 2 landed 2\n400 released 2 none\n";
  run.second =
      "120 begun 1 a\n410 granted 1 11 0x2 /a/11\n"
      "420 write 1 guarded 1\n430 wrote 1 landed 3\n500 released 1 none\n";
  run.driver += "1 passes a 2\n8000 register a 3\n";
  return run;
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), by);
}

/// A passing run in which the first worker writes a third time, for its first hold, as the last
/// version.
Run with_late_write(const std::string& begun, const std::string& done) {
  Run run = passing_run();
  run.first += begun + " write 3 guarded 1\n" + done + " wrote 3 landed 4\n";
  replace(run.driver, "register a 3", "register a 4");
  return run;
}

/// A run in which the first worker's node is deleted, and the second worker is granted the lock.
/// The first worker, which may not know that, passes its node on.
Run passed_on_too_late(const std::string& released) {
  Run run;
  run.first = "100 begun 1 a\n200 granted 1 10 0x1 /a/10\n" + released +
              " released 1 none\n"
              "3000 begun 2 a\n4010 granted 2 0:10:1 0x1 /a/10\n4060 released 2 none\n";
  run.second = "120 begun 1 a\n3990 granted 1 11 0x2 /a/11\n4100 released 1 none\n";
  run.driver += "1 passes a 2\n";
  return run;
}

}  // namespace

TEST_CASE("a lock that is passed on within a process breaks no rule, and is counted") {
  CHECK(broken(passing_run()).empty());
  const Verdict verdict = judge(passing_run().history());
  CHECK(verdict.grants == 3);
  CHECK(verdict.locks.at("a").passed_on == 1);
}

TEST_CASE("a lock is passed on no more often than it may be, and a strict one never") {
  Run run = passing_run();
  replace(run.first, "0:10:1", "0:10:2");
  CHECK(broken(run).empty());
  replace(run.first, "0:10:2", "0:10:3");
  CHECK(broken(run) == Rules{Rule::rightly_passed_on});
  run = passing_run();
  replace(run.driver, "passes a", "passes b");
  CHECK(broken(run) == Rules{Rule::rightly_passed_on});
}

TEST_CASE("two holders at once within a process are a violation, and nothing excuses it") {
  Run run = passing_run();
  replace(run.first, "310 granted", "290 granted");
  CHECK(broken(run) == Rules{Rule::one_holder});
  const std::string driver = run.driver;
  run.driver = driver + "280 stopped 1.1\n295 resumed 1.1\n";
  CHECK(broken(run) == Rules{Rule::one_holder});
  run.driver = driver + "280 fault 1 holder-deleted 1.1 a 10\n281 healed 1\n700 over 1\n";
  CHECK(broken(run) == Rules{Rule::one_holder});
}

TEST_CASE("a token that goes back within a process is a violation, even of one that was stopped") {
  Run run = passing_run();
  replace(run.first, " 10 0x1", " 0:10:2 0x1");
  CHECK(broken(run) == Rules{Rule::tokens_grow});
  run.driver += "190 stopped 1.1\n205 resumed 1.1\n";
  CHECK(broken(run) == Rules{Rule::tokens_grow});
  replace(run.first, " 0:10:2 0x1", " 0:10:1 0x1");
  CHECK(broken(run) == Rules{Rule::tokens_grow});  // granted twice
}

TEST_CASE("a node that one process passes on to another is a violation") {
  Run run = passing_run();
  replace(run.second, "11 0x2 /a/11", "0:10:2 0x2 /a/10");
  CHECK(broken(run) == Rules{Rule::rightly_passed_on});
}

TEST_CASE("a lock that a holder was told is lost is not passed on") {
  Run run = passing_run();
  replace(run.first, "300 released", "290 lost 1\n300 released");
  run.driver += "250 fault 1 connection-reset 1.1 a 10\n260 healed 1\n450 over 1\n";
  CHECK(broken(run) == Rules{Rule::rightly_passed_on});
}

TEST_CASE("a guarded write may land late as long as its process passes the node on") {
  Run run = passing_run();
  replace(run.first, "landed 1", "landed 7");
  replace(run.first, "landed 2", "landed 1");
  replace(run.first, "landed 7", "landed 2");
  CHECK(broken(run).empty());

  run = passing_run();
  replace(run.first, "210 write 1 guarded 1\n220", "340 write 1 guarded 1\n350");
  replace(run.first, "landed 1", "landed 7");
  replace(run.first, "landed 2", "landed 1");
  replace(run.first, "landed 7", "landed 2");
  CHECK(broken(run).empty());
  Verdict verdict = judge(run.history());
  CHECK(verdict.writes[WriteKind::guarded].stale_attempted == 0);

  // Now the answer to the earlier holder's write is unknown. The write may have made version 2, the
  // only one without a known writer: the later holder made version 1, the other process version 3.
  replace(run.first, "landed 2", "unknown 0");
  CHECK(broken(run).empty());

  // Now the answer to the later holder's write is unknown. The write may have made version 2,
  // between two versions that the earlier holder made.
  run = with_late_write("340", "350");
  replace(run.first, "landed 2", "unknown 0");
  replace(run.first, "landed 4", "landed 3");
  replace(run.second, "landed 3", "landed 4");
  CHECK(broken(run).empty());
}

TEST_CASE("a guarded write that lands when another process has the lock is a violation") {
  CHECK(broken(with_late_write("405", "415")) == Rules{Rule::no_stale_write});
  // A write that began after the grant to the other process is stale for a second reason.
  CHECK(broken(with_late_write("440", "450")) == Rules{Rule::no_stale_write, Rule::no_stale_write});
  // A write whose answer was lost cannot have made a version that comes after a write of the other
  // process.
  Run run = with_late_write("405", "415");
  replace(run.first, "landed 4", "unknown 0");
  CHECK(broken(run) == Rules{Rule::no_stale_write});
}

TEST_CASE("a guarded write that lands when its process has another node is a violation") {
  Run run = passing_run();
  replace(run.first, "0:10:1 0x1 /a/10", "12 0x1 /a/12");
  replace(run.first, "landed 1", "landed 7");
  replace(run.first, "landed 2", "landed 1");
  replace(run.first, "landed 7", "landed 2");
  run.second.clear();
  replace(run.driver, "register a 3", "register a 2");
  CHECK(broken(run) == Rules{Rule::no_stale_write});
}

TEST_CASE("a fenced write of an earlier holder is refused within a process, too") {
  Run run = passing_run();
  run.first += "332 write 4 fenced 2\n334 wrote 4 landed 0\n340 write 3 fenced 1\n";
  const std::string first = run.first;
  run.first = first + "350 wrote 3 refused 0\n";
  CHECK(broken(run).empty());
  run.first = first + "350 wrote 3 landed 0\n";
  CHECK(broken(run) == Rules{Rule::no_stale_write});
}

TEST_CASE("a process that was stopped does not pass on what it has lost meanwhile") {
  const std::string stop = "250 stopped 1.1\n4000 resumed 1.1\n";
  Run run = passed_on_too_late("4005");
  run.driver += stop;
  CHECK(broken(run) == Rules{Rule::tokens_grow, Rule::one_holder});
  // Here the lock was passed on before the stop, and only the grant was recorded after it.
  run = passed_on_too_late("240");
  run.driver += stop;
  CHECK(broken(run).empty());
}

TEST_CASE("a stop excuses a hold of another node, whatever became of the holder before") {
  Run run;
  run.first = "100 begun 1 a\n3000 granted 1 11 0x1 /a/11\n7010 lost 1\n7020 released 1 gone\n";
  run.second =
      "100 begun 1 a\n200 granted 1 10 0x2 /a/10\n4010 lost 1\n4020 released 1 gone\n"
      "4030 begun 2 a\n6000 granted 2 12 0x2 /a/12\n7100 released 2 none\n";
  run.driver +=
      "250 fault 1 worker-stopped * b 1\n250 stopped 2.1\n4000 resumed 2.1\n"
      "3100 stopped 1.1\n7000 resumed 1.1\n7050 healed 1\n7200 over 1\n";
  CHECK(broken(run).empty());
}

TEST_CASE("a node that was taken away may be passed on until the fault is over") {
  Run run = passed_on_too_late("4005");
  const std::string driver = run.driver;
  run.driver = driver + "3985 fault 1 holder-deleted 1.1 a 10\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run).empty());
  run.driver = driver + "3985 fault 1 holder-deleted 1.1 a 9\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run) == Rules{Rule::one_holder, Rule::tokens_grow, Rule::one_holder});
  run.driver = driver + "3985 fault 1 holder-deleted 1.1 a 10\n3986 healed 1\n4004 over 1\n";
  CHECK(broken(run) == Rules{Rule::tokens_grow, Rule::one_holder});
}

TEST_CASE("a node that was taken away is not granted late by the queue itself") {
  Run run = passed_on_too_late("4005");
  run.first = "100 begun 1 a\n4010 granted 1 10 0x1 /a/10\n4060 released 1 none\n";
  run.driver += "3985 fault 1 waiter-deleted 1.1 a 10\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run) == Rules{Rule::tokens_grow});
}

TEST_CASE("whoever is told that a node was deleted is concerned, if it has it by passing on") {
  Run run = passed_on_too_late("4005");
  replace(run.first, "4060 released 2", "4050 lost 2\n4060 released 2");
  const std::string driver = run.driver;
  run.driver = driver + "3985 fault 1 waiter-deleted 3.1 a 10\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run).empty());
  run.driver = driver + "3985 fault 1 waiter-deleted 3.1 a 10\n3986 healed 1\n4040 over 1\n";
  CHECK(broken(run).empty());
  run.driver = driver + "3985 fault 1 waiter-deleted 3.1 a 9\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run) ==
        Rules{Rule::one_holder, Rule::tokens_grow, Rule::one_holder, Rule::no_false_alarm});
}

TEST_CASE("a session that is expired has the locks that are passed on with it meanwhile") {
  // The fault is aimed at another lock of the same session. The second acquire begins after the
  // fault.
  Run run = passed_on_too_late("4005");
  replace(run.first, "3000 begun 2", "4001 begun 2");
  run.first += "100 begun 3 b\n200 granted 3 5 0x1 /b/5\n4007 lost 3\n4010 released 3 gone\n";
  run.driver += "3985 fault 1 session-expired 1.1 b 5\n3986 healed 1\n4500 over 1\n";
  CHECK(broken(run).empty());
  replace(run.first, "0:10:1 0x1", "0:10:1 0x3");
  CHECK(broken(run) == Rules{Rule::tokens_grow, Rule::one_holder});
}

TEST_CASE("a lock that may be passed on, and never was, proves nothing") {
  std::ostringstream lines;
  for (int i = 1; i <= 100; ++i) {
    lines << i * 10 << " begun " << i << " a\n"
          << i * 10 << " granted " << i << ' ' << i << " 0x1 /a/" << i << '\n'
          << i * 10 << " released " << i << " none\n";
  }
  Run run;
  run.first = lines.str();
  CHECK(broken(run).empty());
  run.driver += "1 passes a 2\n";
  CHECK(broken(run) == Rules{Rule::proves_something});
}

}  // namespace custodian::tests::passing_on_test
