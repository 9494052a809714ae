// One of many processes runs a job, at most once per period: with a fault at each request.

#include <algorithm>

#include "scripted/periodic/period_play.hpp"
#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests::once_per_period_faults_test {
namespace {

constexpr PeriodAct all_acts[] = {PeriodAct::first,   PeriodAct::due,        PeriodAct::broken_off,
                                  PeriodAct::has_run, PeriodAct::is_running, PeriodAct::end};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const PeriodCase& played) {
    const PeriodVerdict verdict = tests::play(played);
    add(verdict.violation, [&] { return describe(played); });
    return verdict.steps;
  }
};

TEST_CASE("once per period: every call survives every fault, and no fault gives a second turn") {
  Tally tally{"one fault"};
  for (const PeriodAct act : all_acts) {
    PeriodCase each{.act = act};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(faults_and_late_ones())) {
        each.faults = {{at, fault}};
        tally.play(each);
      }
    }
  }
}

void play_pairs(PeriodAct act) {
  Tally tally{"two faults"};
  Sample sample;
  PeriodCase each{.act = act};
  const std::size_t steps = tally.play(each);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) {
      each.faults = {{at, fault}};
      const std::size_t longer = tally.play(each);
      for (std::size_t next = at + 1; next < std::min(longer, at + 3); ++next) {
        for (const Fault& another : all_faults()) {
          if (!sample.takes_next()) continue;
          each.faults = {{at, fault}, {next, another}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("once per period: a run that is due survives every pair of faults", "[pairs]") {
  play_pairs(PeriodAct::due);
}
TEST_CASE("once per period: a run that is repeated survives every pair of faults", "[pairs]") {
  play_pairs(PeriodAct::broken_off);
}
TEST_CASE("once per period: the end of a run survives every pair of faults", "[pairs]") {
  play_pairs(PeriodAct::end);
}

TEST_CASE("once per period: a cancelled call ends, at every moment, and leaves no node") {
  Tally tally{"cancelled"};
  for (const PeriodAct act : all_acts) {
    PeriodCase each{.act = act};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const CancelMoment moment :
           {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
        each.cancel = PeriodCancel{moment, at};
        tally.play(each);
      }
    }
  }
}

TEST_CASE("once per period: a lock that an operator breaks gives no turn without one") {
  Tally tally{"broken"};
  for (const PeriodAct act : all_acts) {
    PeriodCase each{.act = act};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      each.broken_at = at;
      tally.play(each);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::once_per_period_faults_test
