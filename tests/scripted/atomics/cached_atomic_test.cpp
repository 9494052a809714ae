// Numbers from memory, over a fake ensemble: no number is handed out twice, whatever fails.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>
#include <limits>
#include <set>

#include "custodian/atomics/cached_atomic_long.hpp"
#include "scripted/atomics/atomic_fixture.hpp"

namespace custodian::tests::cached_atomic_test {

namespace asio = boost::asio;

namespace {

using namespace atomics;

constexpr CachedAtomicOptions by_fives{.chunk = 5, .prefetch_at = 2};

/// Takes `count` numbers, one after the other. Ends at the first error.
std::vector<std::int64_t> take(World& world, CachedAtomicLong& numbers, int count,
                               error_code& error) {
  std::vector<std::int64_t> taken;
  for (int i = 0; i < count && !error; ++i) {
    const auto next = run<std::int64_t>(world, [&](auto done) { numbers.async_next(done); });
    REQUIRE(next.arrived());
    error = next.error();
    if (!error) taken.push_back(next.result());
  }
  return taken;
}

TEST_CASE("cached numbers come one after the other, and a request brings a chunk", "[atomics]") {
  Fixture fixture;
  CachedAtomicLong numbers{*fixture.number, by_fives};
  error_code error;
  CHECK(take(fixture.world, numbers, 8, error) ==
        std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK_FALSE(error);
  fixture.world.settle();
  // The third chunk is there before the second one is used up.
  CHECK(fixture.is(15));
  fixture.world.ensemble.clear_history();
  CHECK(numbers.try_next() == 8);
  CHECK(CachedAtomicLong{numbers}.try_next() == 9);
  CHECK(numbers.try_next() == 10);
  CHECK(fixture.world.ensemble.history().empty());
}

TEST_CASE("cached numbers: a try without numbers fetches them for later", "[atomics]") {
  Fixture fixture;
  CachedAtomicLong numbers{*fixture.number, by_fives};
  CHECK_FALSE(numbers.try_next());
  CHECK_FALSE(numbers.try_next());
  REQUIRE(fixture.world.run_until([&] { return fixture.is(5); }));
  fixture.world.settle();
  CHECK(fixture.is(5));
  CHECK(numbers.try_next() == 0);
}

TEST_CASE("cached numbers: many who wait at once get different ones", "[atomics]") {
  Fixture fixture;
  CachedAtomicLong numbers{*fixture.number, by_fives};
  std::vector<Outcome<std::int64_t>> outcomes(23);
  for (auto& outcome : outcomes) numbers.async_next(outcome.handler());
  std::set<std::int64_t> seen;
  for (auto& outcome : outcomes) {
    REQUIRE(fixture.world.run_until_arrived(outcome));
    CHECK_FALSE(outcome.error());
    seen.insert(outcome.result());
  }
  CHECK(seen.size() == outcomes.size());
}

TEST_CASE("cached numbers: who waits may give up, and no number is lost by it", "[atomics]") {
  Fixture fixture;
  CachedAtomicLong numbers{*fixture.number, by_fives};
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
  asio::cancellation_signal signal;
  Outcome<std::int64_t> cancelled;
  Outcome<std::int64_t> late;
  Outcome<std::int64_t> patient;
  numbers.async_next(asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  numbers.async_next({.deadline = brief_limit}, late.handler());
  numbers.async_next(patient.handler());
  fixture.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(fixture.world.run_until_arrived(cancelled));
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK(cancelled.error() == asio::error::operation_aborted);
  CHECK(late.error() == Errc::deadline_exceeded);
  fixture.world.ensemble.release_replies();
  REQUIRE(fixture.world.run_until_arrived(patient));
  CHECK(patient.result() == 0);
}

TEST_CASE("cached numbers: an error reaches who waits, and the next one tries again", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(0));
  fixture.world.ensemble.refuse(place);
  CachedAtomicLong numbers{*fixture.number, by_fives};
  error_code error;
  fixture.world.ensemble.clear_history();
  CHECK(take(fixture.world, numbers, 1, error).empty());
  CHECK(error == ServerErrc::no_auth);
  // No caller waits any more, so no chunk is fetched.
  fixture.world.settle();
  CHECK(fixture.world.ensemble.history().size() == 1);
  fixture.world.ensemble.permit(place);
  error.clear();
  CHECK(take(fixture.world, numbers, 6, error).size() == 6);
  CHECK_FALSE(error);
}

TEST_CASE("cached numbers: a call with time left does not fail with an earlier call's fetch",
          "[atomics]") {
  const bool is_first = GENERATE(true, false);
  World world;
  ClientOptions options = world.options("observed");
  options.operation_timeout = 2 * brief_limit;
  auto client = world.client(std::move(options));
  {
    CachedAtomicLong numbers{DistributedAtomicLong{*client, place}, by_fives};
    world.ensemble.stop();
    Outcome<std::int64_t> hasty;
    Outcome<std::int64_t> patient;
    if (is_first) numbers.async_next({.deadline = World::limit}, patient.handler());
    numbers.async_next(hasty.handler());
    if (!is_first) numbers.async_next({.deadline = World::limit}, patient.handler());
    REQUIRE(world.run_until_arrived(hasty));
    CHECK(hasty.error() == Errc::deadline_exceeded);
    // The next one is late, too: meanwhile the first fetch has ended.
    CHECK(run<std::int64_t>(world, [&](auto done) { numbers.async_next(done); }).error() ==
          Errc::deadline_exceeded);
    CHECK_FALSE(patient.arrived());
    world.ensemble.start();
    REQUIRE(world.run_until_arrived(patient));
    CHECK_FALSE(patient.error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("cached numbers end with their client, also those in memory", "[atomics]") {
  Fixture fixture;
  CachedAtomicLong numbers{*fixture.number, by_fives};
  error_code error;
  CHECK(take(fixture.world, numbers, 1, error).size() == 1);
  fixture.client->close();
  CHECK_THROWS_AS(numbers.try_next(), Error);
  CHECK(take(fixture.world, numbers, 1, error).empty());
  CHECK(error == Errc::closed);
}

TEST_CASE("cached numbers: bad options throw at once", "[atomics]") {
  Fixture fixture;
  CHECK_THROWS_AS((CachedAtomicLong{*fixture.number, {.chunk = 0}}), Error);
  CHECK_THROWS_AS((CachedAtomicLong{*fixture.number, {.chunk = -1}}), Error);
  CHECK_THROWS_AS((CachedAtomicLong{*fixture.number, {.prefetch_at = -1}}), Error);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS((CachedAtomicLong{*fixture.number, {.chunk = most, .prefetch_at = 1}}), Error);
  CHECK_NOTHROW(CachedAtomicLong{*fixture.number, {.chunk = most - 1, .prefetch_at = 1}});
}

TEST_CASE("cached numbers: every fault leaves a gap at most, and no number twice", "[atomics]") {
  int cases = 0;
  std::vector<Fault> faults = all_faults();
  faults.push_back({.kind = FaultKind::apply_late, .requests_later = 1});
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (std::size_t at = 0; at < 8; ++at) {
      for (const Fault& fault : faults) {
        ++cases;
        Fixture fixture{{.settle = settle}};
        auto other = fixture.world.client("other");
        {
          CachedAtomicLong numbers{*fixture.number, by_fives};
          CachedAtomicLong others{DistributedAtomicLong{*other, place}, by_fives};
          fixture.world.ensemble.set_fault_plan(
              std::make_shared<FaultsAt>("observed", Faults{{at, fault}}));
          INFO(tests::describe(fault) << " at request " << at);
          std::set<std::int64_t> seen;
          std::int64_t last = -1;
          error_code error;
          for (int i = 0; i < 6; ++i) {
            for (const std::int64_t number : take(fixture.world, numbers, 2, error)) {
              CHECK(number > last);
              last = number;
              CHECK(seen.insert(number).second);
            }
            for (const std::int64_t number : take(fixture.world, others, 2, error)) {
              CHECK(seen.insert(number).second);
            }
          }
          CHECK_FALSE(error);
          CHECK(seen.size() == 24);
        }
        CHECK(fixture.world.end(other));
      }
    }
  }
  std::cout << "  " << cases << " cases: cached numbers\n";
}

}  // namespace
}  // namespace custodian::tests::cached_atomic_test
