// A distributed atomic with a fault at each request: an update counts once or not at all, and its
// caller learns which, or that this is unknown.

#include <algorithm>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "scripted/atomics/atomic_play.hpp"
#include "scripted/atomics/lost_transaction.hpp"
#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomic_faults_test {
namespace {

/// Plays cases, counts them, and stops when too many go wrong.
class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const AtomicCase& played) {
    const AtomicVerdict verdict = tests::play(played);
    if (verdict.error == ErrorCondition::outcome_unknown) ++unknown_;
    add(verdict.violation, [&] { return describe(played); });
    return verdict.steps;
  }

  [[nodiscard]] int unknown() const { return unknown_; }

 private:
  int unknown_ = 0;
};

/// All faults, and requests that are applied after the next ones.
std::vector<Fault> faults_and_late_ones() {
  std::vector<Fault> all = all_faults();
  for (const int later : {1, 2, 0}) {
    all.push_back({.kind = FaultKind::apply_late, .requests_later = later});
  }
  return all;
}

std::vector<AtomicCase> all_acts(Settle settle) {
  std::vector<AtomicCase> all;
  for (const AtomicAct act : {AtomicAct::load, AtomicAct::store, AtomicAct::initialize,
                              AtomicAct::add, AtomicAct::compare, AtomicAct::stale_compare,
                              AtomicAct::raise_to_less, AtomicAct::update}) {
    for (const bool node_exists : {true, false}) {
      all.push_back({.act = act, .settle = settle, .node_exists = node_exists});
    }
  }
  all.push_back({.act = AtomicAct::add, .settle = settle, .promoted = true});
  all.push_back({.act = AtomicAct::add, .settle = settle, .warm = true});
  all.push_back({.act = AtomicAct::raise_to_less, .settle = settle, .warm = true});
  return all;
}

void play_each_fault(Tally& tally, AtomicCase each) {
  const std::size_t steps = tally.play(each);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(faults_and_late_ones())) {
      each.faults = {{at, fault}};
      tally.play(each);
    }
  }
}

TEST_CASE("an atomic: an update survives every fault, or says what it does not know", "[atomics]") {
  Tally tally{"one fault, left to the caller"};
  for (const AtomicCase& each : all_acts(Settle::left_to_caller)) play_each_fault(tally, each);
  CHECK(tally.unknown() > 0);
}

TEST_CASE("an atomic: an update counts exactly once with every fault", "[atomics]") {
  Tally tally{"one fault, exactly once"};
  for (const AtomicCase& each : all_acts(Settle::exactly_once)) play_each_fault(tally, each);
}

TEST_CASE("an atomic: an undisturbed update takes one request, and the first one three",
          "[atomics]") {
  CHECK(play({.act = AtomicAct::add, .warm = true}).steps == 1);
  CHECK(play({.act = AtomicAct::add}).steps == 3);
  CHECK(play({.act = AtomicAct::add, .settle = Settle::left_to_caller}).steps == 2);
  CHECK(play({.act = AtomicAct::compare, .settle = Settle::left_to_caller}).steps == 1);
  CHECK(play({.act = AtomicAct::raise_to_less, .warm = true}).steps == 1);
}

void play_pairs(AtomicCase each) {
  Tally tally{"two faults"};
  Sample sample;
  const std::vector<Fault> faults = faults_and_late_ones();
  const std::size_t steps = tally.play(each);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : faults) {
      each.faults = {{at, fault}};
      const std::size_t longer = tally.play(each);
      for (std::size_t next = at + 1; next < std::min(longer, at + 4); ++next) {
        for (const Fault& another : faults) {
          if (!sample.takes_next()) continue;
          each.faults = {{at, fault}, {next, another}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("an atomic: an update counts exactly once with every pair of faults", "[atomics]") {
  play_pairs({.act = AtomicAct::add});
}
TEST_CASE("an atomic: a later update counts exactly once with every pair of faults", "[atomics]") {
  play_pairs({.act = AtomicAct::add, .warm = true});
}
TEST_CASE("an atomic: an update under a lock counts exactly once with pairs of faults",
          "[atomics]") {
  play_pairs({.act = AtomicAct::add, .promoted = true, .warm = true});
}

TEST_CASE("an atomic: another client's write at any moment is neither lost nor undone",
          "[atomics]") {
  Tally tally{"others write"};
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (const bool warm : {true, false}) {
      for (const AtomicAct act : {AtomicAct::add, AtomicAct::update, AtomicAct::compare}) {
        AtomicCase each{.act = act, .settle = settle, .warm = warm};
        const std::size_t steps = tally.play(each);
        for (std::size_t others = 0; others < steps; ++others) {
          each.faults = {};
          each.others_at = others;
          const std::size_t longer = tally.play(each);
          for (std::size_t at = 0; at < longer; ++at) {
            for (const Fault& fault : sampled(faults_and_late_ones())) {
              each.faults = {{at, fault}};
              tally.play(each);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("an atomic: an operation that is not retried is honest about it", "[atomics]") {
  Tally tally{"no retries"};
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (AtomicCase each : all_acts(settle)) {
      each.options.retry = RetryPolicy::none();
      play_each_fault(tally, each);
    }
  }
}

TEST_CASE("an atomic: a cancelled operation ends, at every moment", "[atomics]") {
  Tally tally{"cancelled"};
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (AtomicCase each : all_acts(settle)) {
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const AtomicCancelMoment moment :
             {AtomicCancelMoment::request_sent, AtomicCancelMoment::before_reply,
              AtomicCancelMoment::after_reply}) {
          each.cancel = AtomicCancel{moment, at};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("an atomic: a client that is not connected yet knows whether it has created the node",
          "[atomics]") {
  for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
    World world;
    world.ensemble.stop();
    auto client = std::make_unique<Client>(world.context.get_executor(), world.options("observed"));
    {
      DistributedAtomicLong number{*client, "/number", {.settle = Settle::exactly_once}};
      const auto plan = std::make_shared<LostTransaction>("observed", Fault{.kind = kind});
      // Another client is quicker, or too late.
      plan->repeated = [&] { world.make("/number", bytes_of_long(4)); };
      world.ensemble.set_fault_plan(plan);
      Outcome<bool> ended;
      number.async_initialize(3, ended.handler());
      world.settle();
      world.ensemble.start();
      REQUIRE(world.run_until_arrived(ended));
      CHECK_FALSE(ended.error());
      CHECK(ended.result() == (kind == FaultKind::fail_after));
      world.ensemble.set_fault_plan(nullptr);
    }
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }
}

TEST_CASE("an atomic: the doubt about a container is none about the value", "[atomics]") {
  World world;
  auto client = world.client("observed");
  {
    DistributedAtomicLong number{*client, "/p/number", {.settle = Settle::exactly_once}};
    world.ensemble.set_fault_plan(
        std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::delay}}}));
    const auto late = run<bool>(
        world, [&](auto done) { number.async_initialize(3, {.deadline = brief_limit}, done); });
    CHECK(late.error() == Errc::deadline_exceeded);
    world.ensemble.release_replies();
  }
  CHECK_FALSE(world.ensemble.exists("/p/number"));
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("an atomic: a node that is deleted in between is no error", "[atomics]") {
  Tally tally{"deleted"};
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (AtomicCase each : all_acts(settle)) {
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        each.deleted_at = at;
        tally.play(each);
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::atomic_faults_test
