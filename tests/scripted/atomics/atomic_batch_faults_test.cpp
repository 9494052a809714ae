// Updates that share a write, with a fault or a cancellation at each request: each counts once or
// not at all, and its caller learns which, or that this is unknown.

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>

#include "scripted/atomics/atomic_fixture.hpp"
#include "shared/big_endian.hpp"

namespace custodian::tests::atomic_batch_faults_test {

namespace asio = boost::asio;

namespace {

using namespace atomics;

/// The number that each caller adds: each sum belongs to one set of callers. The first update has a
/// write of its own.
constexpr std::array<std::int64_t, 4> parts{1, 10, 100, 1000};

struct Play {
  Settle settle = Settle::exactly_once;
  bool warm = true;
  Faults faults{};
  /// The caller that gives up, and the moment: with a request, before a reply, or after a reply.
  std::optional<std::size_t> gives_up{};
  enum class Moment { submitted, replying, replied } moment = Moment::submitted;
  std::size_t at = 0;
  /// Another client adds this just before the reply to request `others_at`.
  std::optional<std::size_t> others_at{};
};

constexpr std::int64_t others = 100'000;

struct Seen {
  std::size_t steps = 0;
  int unknown = 0;
};

bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

std::string describe(const Play& play) {
  std::string text = play.settle == Settle::exactly_once ? "exactly once" : "left to caller";
  if (play.warm) text += ", warm";
  for (const auto& [at, fault] : play.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (play.gives_up) {
    text += "; caller " + std::to_string(*play.gives_up) + " gives up, moment " +
            std::to_string(static_cast<int>(play.moment)) + " of " + std::to_string(play.at);
  }
  if (play.others_at) text += "; others write at " + std::to_string(*play.others_at);
  return text;
}

Seen run(const Play& play) {
  INFO(describe(play));
  Fixture fixture{{.settle = play.settle}};
  if (play.warm) {
    for (int i = 0; i < 3; ++i) static_cast<void>(fixture.add(0));
  }
  const auto look = [&] {
    return recipes_detail::from_big_endian<std::int64_t>(fixture.bytes()).value_or(0);
  };
  const auto plan = std::make_shared<FaultsAt>("observed", play.faults);
  std::array<asio::cancellation_signal, parts.size()> signals;
  const auto at_moment = [&](Play::Moment moment, std::size_t step) {
    if (play.gives_up && play.moment == moment && play.at == step) {
      signals.at(*play.gives_up).emit(asio::cancellation_type::all);
    }
  };
  bool others_wrote = false;
  plan->submitted = [&](std::size_t step) { at_moment(Play::Moment::submitted, step); };
  plan->replying = [&](std::size_t step) {
    if (play.others_at == step && !fixture.bytes().empty()) {
      others_wrote = true;
      fixture.write(look() + others);
    }
    at_moment(Play::Moment::replying, step);
  };
  plan->replied = [&](std::size_t step) { at_moment(Play::Moment::replied, step); };
  fixture.world.ensemble.set_fault_plan(plan);
  std::array<Outcome<Done>, parts.size()> outcomes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    fixture.number->async_fetch_add(
        parts[i], asio::bind_cancellation_slot(signals[i].slot(), outcomes[i].handler()));
  }
  REQUIRE(fixture.world.run_until([&] {
    return std::ranges::all_of(outcomes, [](const auto& each) { return each.arrived(); });
  }));
  Seen seen{.steps = plan->steps()};
  fixture.world.ensemble.apply_late_requests();
  std::int64_t certain = others_wrote ? others : 0;
  std::int64_t possible = certain;
  const bool loses_session =
      std::ranges::any_of(play.faults, [](const auto& each) { return ends_session(each.second); });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const error_code error = outcomes[i].error();
    if (!error) {
      certain += parts[i];
      possible += parts[i];
      const Done& done = outcomes[i].result();
      CHECK(done.after.value == done.before.value + parts[i]);
      continue;
    }
    const bool cancelled = play.gives_up == i && error == asio::error::operation_aborted;
    const bool unknown = error == ErrorCondition::outcome_unknown;
    if (!cancelled && !unknown) FAIL_CHECK("it fails: " << error.message());
    const bool settles = play.settle == Settle::exactly_once && !loses_session;
    if (unknown && (settles || play.faults.empty())) FAIL_CHECK("unknown: " << error.message());
    possible += parts[i];
    ++seen.unknown;
  }
  // The certain additions are digits of the sum; besides them, the sum may only contain additions
  // with an unknown outcome.
  const std::int64_t sum = look();
  CHECK(sum >= certain);
  CHECK(sum <= possible);
  for (std::int64_t digit = 1; digit <= others; digit *= 10) {
    CHECK(sum / digit % 10 >= certain / digit % 10);
    CHECK(sum / digit % 10 <= possible / digit % 10);
  }
  return seen;
}

std::vector<Fault> faults_and_late_ones() {
  std::vector<Fault> all = all_faults();
  for (const int later : {1, 2, 0}) {
    all.push_back({.kind = FaultKind::apply_late, .requests_later = later});
  }
  return all;
}

/// All of one kind of play, for each of the ways to update.
template <typename Each>
void for_all(const std::string& name, Each each) {
  int plays = 0;
  int unknown = 0;
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (const bool warm : {true, false}) {
      const Play plain{.settle = settle, .warm = warm};
      each(plain, [&](const Play& play) {
        const Seen seen = run(play);
        ++plays;
        unknown += seen.unknown;
        return seen.steps;
      });
    }
  }
  std::cout << "  " << plays << " cases, " << unknown << " unknown outcomes: " << name << '\n';
}

TEST_CASE("an atomic: updates that share a write count once with every fault", "[atomics]") {
  for_all("together, one fault", [](Play play, auto seen) {
    const std::size_t steps = seen(play);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(faults_and_late_ones())) {
        play.faults = {{at, fault}};
        seen(play);
      }
    }
  });
}

void play_pairs(Settle settle) {
  Sample sample;
  const std::vector<Fault> faults = faults_and_late_ones();
  Play play{.settle = settle};
  const std::size_t steps = run(play).steps;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : faults) {
      for (std::size_t next = at + 1; next < at + 3; ++next) {
        for (const Fault& another : faults) {
          if (!sample.takes_next()) continue;
          play.faults = {{at, fault}, {next, another}};
          run(play);
        }
      }
    }
  }
}

TEST_CASE("an atomic: updates that share a write count once with pairs of faults", "[atomics]") {
  play_pairs(Settle::exactly_once);
}
TEST_CASE("an atomic: without a witness they do, too, or it is said to be unknown", "[atomics]") {
  play_pairs(Settle::left_to_caller);
}

TEST_CASE("an atomic: one of several that share a write is cancelled, at every moment",
          "[atomics]") {
  for_all("together, one cancelled", [](Play play, auto seen) {
    const std::size_t steps = seen(play);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const auto moment :
           {Play::Moment::submitted, Play::Moment::replying, Play::Moment::replied}) {
        for (std::size_t who = 0; who < parts.size(); ++who) {
          play.gives_up = who;
          play.moment = moment;
          play.at = at;
          play.faults = {};
          seen(play);
          play.faults = {{at, {.kind = FaultKind::fail_after}}};
          seen(play);
        }
      }
    }
  });
}

TEST_CASE("an atomic: another client's write beside several that share one is not lost",
          "[atomics]") {
  for_all("together, others write", [](Play play, auto seen) {
    const std::size_t steps = seen(play);
    for (std::size_t others_at = 0; others_at < steps; ++others_at) {
      play.others_at = others_at;
      play.faults = {};
      const std::size_t longer = seen(play);
      for (std::size_t at = 0; at < longer; ++at) {
        for (const Fault& fault : sampled(faults_and_late_ones())) {
          play.faults = {{at, fault}};
          seen(play);
        }
      }
    }
  });
}

}  // namespace
}  // namespace custodian::tests::atomic_batch_faults_test
