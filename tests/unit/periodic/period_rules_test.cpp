#include "periodic/period_rules.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "periodic/period_record.hpp"
#include "support/catch.hpp"

namespace custodian::tests::period_rules_test {
namespace {

using namespace std::chrono_literals;
using namespace recipes_detail;
using std::chrono::milliseconds;

constexpr milliseconds hour = 1h;
constexpr PeriodTerms hourly{.every = hour};
constexpr PeriodTerms until_it_succeeds{.every = hour, .after_failure = AfterFailure::retry};
const ServerTime ten = std::chrono::sys_days{std::chrono::year{2026} / 11 / 27} + 10h;

PeriodRun run_of(ServerTime due, RunState state = RunState::succeeded) {
  return {
      .state = state, .by = "a", .node = "n", .id = "i", .every = hour, .due = due, .begun = due};
}

NotDue reason(const PeriodRun& last, ServerTime now, const PeriodTerms& terms = hourly) {
  return decide(last, now, terms).reason;
}

TEST_CASE("periods: the first call of all runs, and begins the first period") {
  const Decision first = decide(std::nullopt, ten + 7min, hourly);
  CHECK(first.reason == NotDue::none);
  CHECK(first.due == ten + 7min);
  CHECK(first.attempt == 1);
  CHECK(first.missed == 0);
}

TEST_CASE("periods: a call counts from a tenth of a period before it is due") {
  const PeriodRun last = run_of(ten);
  CHECK(reason(last, ten) == NotDue::has_run);
  CHECK(reason(last, ten + 54min - 1ms) == NotDue::has_run);
  for (const milliseconds after :
       {milliseconds{54min}, milliseconds{60min}, milliseconds{114min - 1ms}}) {
    const Decision next = decide(last, ten + after, hourly);
    CHECK(next.reason == NotDue::none);
    CHECK(next.due == ten + hour);
    CHECK(next.missed == 0);
  }
  CHECK(next_call(last, hourly) == ten + 54min);
}

TEST_CASE("periods: after one without a call they begin anew with the next one") {
  const Decision late = decide(run_of(ten), ten + 3h + 20min, hourly);
  CHECK(late.reason == NotDue::none);
  CHECK(late.due == ten + 3h + 20min);
  CHECK(late.missed == 2);
}

TEST_CASE("periods: two runs begin half a period apart or more") {
  PeriodRun last = run_of(ten);
  last.begun = ten + 40min;  // late, but still of its period
  CHECK(reason(last, ten + 55min) == NotDue::too_soon);
  CHECK(reason(last, ten + 70min - 1ms) == NotDue::too_soon);
  CHECK(reason(last, ten + 70min) == NotDue::none);
  CHECK(next_call(last, hourly) == ten + 70min);
}

TEST_CASE("periods: a run that is under way is alone, however long it takes") {
  const PeriodRun last = run_of(ten, RunState::running);
  CHECK(reason(last, ten + 1min) == NotDue::is_running);
  CHECK(reason(last, ten + 5h, until_it_succeeds) == NotDue::is_running);
}

TEST_CASE("periods: a run that has failed, or was broken off, has used its period up, or not") {
  for (const RunState state : {RunState::failed, RunState::broken_off}) {
    const PeriodRun last = run_of(ten, state);
    CHECK(reason(last, ten + 5min) == NotDue::has_failed);
    const Decision again = decide(last, ten + 5min, until_it_succeeds);
    CHECK(again.reason == NotDue::none);
    CHECK(again.due == ten);
    CHECK(again.attempt == 2);
    CHECK(again.missed == 0);
    CHECK(next_call(last, until_it_succeeds) == last.begun);
    // The run does not count for the next period either.
    const Decision next = decide(last, ten + 1h, hourly);
    CHECK(next.due == ten + 1h);
    CHECK(next.attempt == 1);
    CHECK(next.missed == 1);
  }
  // A repetition is not delayed by the border of its period.
  PeriodRun late = run_of(ten, RunState::failed);
  late.begun = ten + 53min;
  CHECK(reason(late, ten + 55min, until_it_succeeds) == NotDue::none);
  CHECK(reason(late, ten + 55min) == NotDue::too_soon);
}

TEST_CASE("periods: a job that was not begun has used up nothing") {
  PeriodRun last = run_of(ten, RunState::not_begun);
  last.attempt = 3;
  last.missed = 4;
  const Decision again = decide(last, ten + 1ms, hourly);
  CHECK(again.reason == NotDue::none);
  CHECK(again.due == ten);
  CHECK(again.attempt == 3);
  CHECK(again.missed == 4);
  CHECK(decide(last, ten + 1h, hourly).missed == 5);
  CHECK(next_call(last, hourly) == last.begun);
}

TEST_CASE("periods: what was missed adds up until a run succeeds") {
  PeriodRun last = run_of(ten, RunState::failed);
  last.missed = 3;
  CHECK(decide(last, ten + 1h, hourly).missed == 4);
  CHECK(decide(last, ten + 3h, hourly).missed == 6);
  last.state = RunState::succeeded;
  CHECK(decide(last, ten + 1h, hourly).missed == 0);
  CHECK(decide(last, ten + 3h, hourly).missed == 2);
}

TEST_CASE("periods: nothing is due while the servers' clock is behind the last run") {
  const PeriodRun last = run_of(ten);
  CHECK(reason(last, ten - 1ms) == NotDue::clock_behind);
  CHECK(reason(last, ten - 24h * 365) == NotDue::clock_behind);
  CHECK(reason(run_of(ten, RunState::broken_off), ten - 5h, until_it_succeeds) ==
        NotDue::clock_behind);
}

// -- All of it, at random -------------------------------------------------------------------------

/// The rule by counting: no division, and one step after the other.
Decision by_counting(const std::optional<PeriodRun>& last, ServerTime now,
                     const PeriodTerms& terms) {
  if (!last) return {.due = now};
  if (last->state == RunState::running) return {.reason = NotDue::is_running};
  if (now < last->begun) return {.reason = NotDue::clock_behind};
  // The end of the run's own period, and how many have ended since.
  ServerTime border = last->due + terms.every - terms.every / 10;
  std::int64_t ended = 0;
  for (; border <= now; border += terms.every) ++ended;
  const bool is_no_run = last->state == RunState::not_begun;
  const bool is_bad = last->state == RunState::failed || last->state == RunState::broken_off;
  const bool may_again = is_no_run || (is_bad && terms.after_failure == AfterFailure::retry);
  Decision decision;
  if (ended == 0) {
    if (!may_again) return {.reason = is_bad ? NotDue::has_failed : NotDue::has_run};
    decision = {.due = last->due, .attempt = last->attempt, .missed = last->missed};
    if (is_bad) ++decision.attempt;
    return decision;
  }
  if (!may_again && now < last->begun + terms.every / 2) return {.reason = NotDue::too_soon};
  decision.due = ended == 1 ? last->due + terms.every : now;
  for (std::int64_t each = 1; each < ended; ++each) ++decision.missed;
  if (is_bad || is_no_run) decision.missed += last->missed + 1;
  return decision;
}

/// Some hosts that call whenever their own, wrong, clocks say so, for many periods.
class Fleet {
 public:
  Fleet(std::uint64_t seed, AfterFailure after_failure)
      : random_{seed},
        terms_{.every = milliseconds{draw(1000, 90'000)}, .after_failure = after_failure} {
    hosts_.resize(static_cast<std::size_t>(draw(1, 12)));
    for (Host& host : hosts_) {
      // The host's cron is off by up to a period, and the host may be down half of the time.
      host.offset = milliseconds{draw(0, terms_.every.count() - 1)};
      host.jitter = draw(0, terms_.every.count() / 4);
      host.presence = draw(0, 1) == 0 ? 100 : draw(20, 100);
    }
  }

  [[nodiscard]] std::vector<PeriodRun> live(int periods) {
    std::vector<ServerTime> calls;
    for (const Host& host : hosts_) {
      for (int period = 0; period < periods; ++period) {
        if (draw(1, 100) > host.presence) continue;
        calls.push_back(ten + period * terms_.every + host.offset +
                        milliseconds{draw(-host.jitter, host.jitter)});
      }
    }
    std::ranges::sort(calls);
    std::vector<PeriodRun> runs;
    std::optional<PeriodRun> last;
    ServerTime over = ten - 24h;  ///< when the run that is under way ends
    for (const ServerTime now : calls) {
      if (last && last->state == RunState::running && over <= now) last->state = end();
      const Decision decision = decide(last, now, terms_);
      const Decision expected = by_counting(last, now, terms_);
      CHECK(decision.reason == expected.reason);
      if (decision.reason != NotDue::none) continue;
      CHECK(decision.due == expected.due);
      CHECK(decision.attempt == expected.attempt);
      CHECK(decision.missed == expected.missed);
      if (last) runs.push_back(*last);
      last = PeriodRun{.state = RunState::running,
                       .by = "host",
                       .node = "n",
                       .id = "i",
                       .every = terms_.every,
                       .due = decision.due,
                       .begun = now,
                       .attempt = decision.attempt,
                       .missed = decision.missed};
      const bool is_long = draw(1, 10) == 1;
      over = now + milliseconds{draw(1, terms_.every.count() * (is_long ? 3 : 1) / 4)};
      CHECK(decode_run(encode(*last)).value() == *last);
    }
    if (last) runs.push_back(*last);
    return runs;
  }

  [[nodiscard]] const PeriodTerms& terms() const { return terms_; }

 private:
  struct Host {
    milliseconds offset{};
    std::int64_t jitter = 0;
    std::int64_t presence = 100;
  };

  std::int64_t draw(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>{from, to}(random_);
  }
  RunState end() {
    switch (draw(1, 10)) {
      case 1: return RunState::failed;
      case 2: return RunState::broken_off;
      case 3: return RunState::not_begun;
      default: return RunState::succeeded;
    }
  }

  std::mt19937_64 random_;
  PeriodTerms terms_;
  std::vector<Host> hosts_;
};

TEST_CASE(
    "periods: whatever hosts, clocks and crashes there are, a period has one run at the most") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    Fleet fleet{seed, AfterFailure::skip};
    const std::vector<PeriodRun> runs = fleet.live(60);
    const milliseconds every = fleet.terms().every;
    for (std::size_t at = 0; at < runs.size(); ++at) {
      CHECK(runs[at].begun >= runs[at].due - every / 10);
      CHECK(runs[at].begun < runs[at].due + every - every / 10);
      if (at == 0) continue;
      if (runs[at - 1].state == RunState::not_begun) continue;
      CHECK(runs[at].due - runs[at - 1].due >= every);
      CHECK(runs[at].begun - runs[at - 1].begun >= every / 2);
    }
  }
}

TEST_CASE("periods: a failed run is repeated in its period, and a good one never") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    Fleet fleet{seed, AfterFailure::retry};
    const std::vector<PeriodRun> runs = fleet.live(60);
    for (std::size_t at = 1; at < runs.size(); ++at) {
      const PeriodRun& before = runs[at - 1];
      if (before.state == RunState::succeeded) {
        CHECK(runs[at].due - before.due >= fleet.terms().every);
        CHECK(runs[at].begun - before.begun >= fleet.terms().every / 2);
      }
      CHECK((runs[at].due > before.due || runs[at].missed == before.missed));
    }
  }
}

TEST_CASE("periods: where calls come often each period has exactly one run, and they are even") {
  const PeriodTerms terms{.every = 30s};
  std::mt19937_64 random{7};
  std::uniform_int_distribution<int> pause{1, 400};
  std::vector<ServerTime> begun;
  std::vector<ServerTime> due;
  std::optional<PeriodRun> last;
  for (ServerTime now = ten; now < ten + 1h; now += milliseconds{pause(random)}) {
    const Decision decision = decide(last, now, terms);
    if (decision.reason != NotDue::none) continue;
    CHECK(decision.missed == 0);
    last = run_of(decision.due);
    last->begun = now;
    begun.push_back(now);
    due.push_back(decision.due);
  }
  REQUIRE(due.size() == 121);
  for (std::size_t period = 0; period < due.size(); ++period) {
    CHECK(due[period] == ten + period * 30s);
    if (period > 0) CHECK(begun[period] - due[period] < -3s + 400ms);
  }
}

// -- The record -----------------------------------------------------------------------------------

TEST_CASE("a job's record is text, for people and for programs") {
  PeriodRun run = run_of(ten + 7min);
  run.begun = ten + 7min + 2113ms;
  run.by = "web1/4711";
  run.node = "_c_1-lock-0000000007";
  run.state = RunState::failed;
  run.attempt = 2;
  run.missed = 12;
  run.status = 3;
  run.lasted = 5003ms;
  CHECK(encode(run) ==
        "custodian once, record 1\n"
        "state: failed\n"
        "by: web1/4711\n"
        "node: _c_1-lock-0000000007\n"
        "run: i\n"
        "every-ms: 3600000\n"
        "due: 2026-11-27T10:07:00.000Z\n"
        "begun: 2026-11-27T10:07:02.113Z\n"
        "attempt: 2\n"
        "missed: 12\n"
        "status: 3\n"
        "lasted-ms: 5003\n");
  CHECK(decode_run(encode(run)).value() == run);
  run.by = "two\nlines";
  CHECK(decode_run(encode(run)).value().by == "two lines");
  CHECK(decode_run(encode(run) + "a-later-line: of another version\n").value().status == 3);
}

TEST_CASE("a job's record that is none is refused") {
  const std::string good = encode(run_of(ten));
  REQUIRE(decode_run(good).has_value());
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = good;
    const auto at = text.find(before);
    REQUIRE(at != std::string::npos);
    return text.replace(at, before.size(), after);
  };
  for (const std::string& bad : {std::string{},
                                 std::string{"\n"},
                                 std::string{"{\"version\": 1, \"holder\": \"a\"}"},
                                 good.substr(1),
                                 good.substr(0, good.size() - 1),
                                 good + good,
                                 good + "x\n",
                                 good + "by: another\n",
                                 with("record 1", "record 2"),
                                 with("succeeded", "broken off"),
                                 with("succeeded", "fine"),
                                 with("2026-11-27T", "2026-11-31T"),
                                 with("2026-11-27T10", "2026-11-27T24"),
                                 with("00.000Z", "60.000Z"),
                                 with("00.000Z", "00.000"),
                                 with("due: ", "due:"),
                                 with("attempt: 1", "attempt: 1.5"),
                                 with("attempt: 1", "attempt: 99999999999"),
                                 with("attempt: 1", "attempt: 2147483647"),
                                 with("attempt: 1", "attempt: 0"),
                                 with("missed: 0", "missed: -1"),
                                 with("missed: 0", "missed: 9223372036854775807"),
                                 with("missed: 0", "missed:  0"),
                                 with("node: n", "node: a/b"),
                                 with("node: n", "node: "),
                                 good + "status: x\n",
                                 good + "lasted-ms: \n",
                                 with("every-ms", "every")}) {
    INFO(bad);
    CHECK_FALSE(decode_run(bad).has_value());
  }
  // A record that is cut off anywhere is refused.
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_FALSE(decode_run(good.substr(0, size)).has_value());
}

}  // namespace
}  // namespace custodian::tests::period_rules_test
