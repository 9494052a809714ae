// Arrivals at an InterProcessBarrier, phase after phase.

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <list>
#include <optional>

#include "scripted/barriers/phase_fixture.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::phase_test {
namespace {

using namespace std::chrono_literals;

using phases::Fixture;
using phases::path;

TEST_CASE("phases: an arrival waits until so many have come, phase after phase") {
  Fixture fixture;
  auto one = fixture.of("one", 3);
  auto two = fixture.of("two", 3);
  auto three = fixture.of("three", 3);
  CHECK(one.path() == path);
  CHECK(one.expected() == 3);
  for (std::int32_t phase = 0; phase < 50; ++phase) {
    const auto first = fixture.waiting(one);
    const auto second = fixture.waiting(two);
    CHECK(fixture.phases() == phase);
    fixture.check_passed(fixture.arrival(three));
    fixture.check_passed(first);
    fixture.check_passed(second);
    CHECK(fixture.nodes() == 0);
    CHECK(fixture.world.ensemble.watches() == 0);
  }
}

TEST_CASE("phases: who comes beyond the number waits for the next phase") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  auto three = fixture.of("three", 2);
  fixture.world.make("/phases");
  fixture.world.make(path);
  std::list<Outcome<>> all;
  for (InterProcessBarrier* each : {&one, &two, &three}) all.push_back(fixture.arrival(*each));
  const auto passed = [&] {
    return std::ranges::count_if(all, [](const auto& each) { return each.arrived(); });
  };
  REQUIRE(fixture.world.run_until([&] { return passed() == 2; }));
  fixture.world.settle();
  CHECK(passed() == 2);
  CHECK(fixture.nodes() == 1);
  all.push_back(fixture.arrival(one));
  REQUIRE(fixture.world.run_until([&] { return passed() == 4; }));
  CHECK(fixture.phases() == 2);
}

TEST_CASE("phases: threads of one process may arrive by one object") {
  Fixture fixture;
  auto one = fixture.of("one", 3);
  const auto first = fixture.arrival(one);
  const auto second = fixture.arrival(one);
  fixture.check_passed(fixture.arrival(one));
  fixture.check_passed(first);
  fixture.check_passed(second);
}

TEST_CASE("phases: an arrival whose session is lost while it waits arrives again") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  const auto first = fixture.waiting(one);
  const std::int64_t before = fixture.clients.front()->session().id;
  fixture.world.ensemble.expire(before);
  REQUIRE(fixture.world.run_until([&] {
    const std::int64_t now = fixture.clients.front()->session().id;
    return now != before && now != 0 && fixture.nodes() == 1 &&
           fixture.world.ensemble.watches(now) == 1;
  }));
  CHECK_FALSE(first.arrived());
  fixture.check_passed(fixture.arrival(two));
  fixture.check_passed(first);
}

TEST_CASE("phases: an arrival that was counted has passed, though its session is lost then") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  const auto first = fixture.waiting(one);
  fixture.world.ensemble.cut_off("one");
  fixture.world.settle();
  fixture.check_passed(fixture.arrival(two));
  fixture.world.ensemble.expire(fixture.clients.front()->session().id);
  fixture.world.ensemble.let_in("one");
  fixture.check_passed(first);
  CHECK(fixture.phases() == 1);
}

/// Three phases by another client, of which the first one counts an arrival that is cut off.
void pass_three(Fixture& fixture, InterProcessBarrier& other) {
  fixture.world.ensemble.cut_off("one");
  fixture.world.settle();
  fixture.check_passed(fixture.arrival(other));
  for (int phase = 0; phase < 2; ++phase) {
    const auto again = fixture.arrival(other);
    fixture.check_passed(fixture.arrival(other));
    fixture.check_passed(again);
  }
}

TEST_CASE("phases: an arrival that was counted has passed, though it hears of it phases later") {
  for (const bool loses_session : {false, true}) {
    Fixture fixture;
    auto one = fixture.of("one", 2);
    auto two = fixture.of("two", 2);
    const auto first = fixture.waiting(one);
    pass_three(fixture, two);
    if (loses_session) fixture.world.ensemble.expire(fixture.clients.front()->session().id);
    fixture.world.ensemble.let_in("one");
    fixture.check_passed(first);
    CHECK(fixture.phases() == 3);
  }
}

TEST_CASE("phases: what is not known any more is known by the node, but not of a lost session") {
  for (const bool loses_session : {false, true}) {
    Fixture fixture;
    auto one = fixture.of("one", 2);
    auto two = fixture.of("two", 2);
    const auto first = fixture.waiting(one);
    pass_three(fixture, two);
    // As after some hundred phases.
    fixture.world.ensemble.operate(request::Set{path, "_c_x-phase-3\n"});
    if (loses_session) fixture.world.ensemble.expire(fixture.clients.front()->session().id);
    fixture.world.ensemble.let_in("one");
    REQUIRE(fixture.world.run_until_arrived(first));
    CHECK(first.error() == (loses_session ? make_error_code(Errc::session_lost) : error_code{}));
  }
}

TEST_CASE("phases: an arrival whose node is deleted by hand says so, and is not counted") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  const auto first = fixture.waiting(one);
  fixture.world.remove(path + "/" + fixture.world.ensemble.children(path).at(0));
  const auto second = fixture.waiting(two);
  fixture.check_passed(fixture.arrival(two));
  fixture.check_passed(second);
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(first.error() == Errc::node_deleted);
}

TEST_CASE("phases: an arrival that is late is taken back") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  const auto late = run<bool>(fixture.world,
                              [&](auto done) { one.async_arrive_and_wait_for(brief_limit, done); });
  REQUIRE(late.arrived());
  CHECK((!late.error() && !late.result()));
  CHECK(fixture.nodes() == 0);
  const auto sent = fixture.world.ensemble.history().size();
  const auto without_time =
      run<bool>(fixture.world, [&](auto done) { one.async_arrive_and_wait_for(0s, done); });
  REQUIRE(without_time.arrived());
  CHECK((!without_time.error() && !without_time.result()));
  fixture.world.settle();
  CHECK(fixture.world.ensemble.history().size() == sent);
  auto two = fixture.of("two", 2);
  const auto second = fixture.waiting(two);
  const auto in_time = run<bool>(
      fixture.world, [&](auto done) { one.async_arrive_and_wait_for(World::limit, done); });
  REQUIRE(in_time.arrived());
  CHECK((!in_time.error() && in_time.result()));
  fixture.check_passed(second);
}

TEST_CASE("phases: an arrival ends with its client, and outlives its barrier object") {
  Fixture fixture;
  std::optional<InterProcessBarrier> one{fixture.of("one", 2)};
  auto two = fixture.of("two", 2);
  const auto first = fixture.waiting(*one);
  one.reset();
  fixture.check_passed(fixture.arrival(two));
  fixture.check_passed(first);
  const auto second = fixture.waiting(two);
  fixture.clients.back()->close();
  REQUIRE(fixture.world.run_until_arrived(second));
  CHECK(second.error() == Errc::closed);
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 0; }));
}

TEST_CASE("phases: an arrival that is late, and was counted in time, has passed") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  Outcome<bool> late;
  one.async_arrive_and_wait_for(brief_limit, late.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.nodes() == 1; }));
  fixture.world.settle();
  fixture.world.ensemble.cut_off("one");
  fixture.check_passed(fixture.arrival(two));
  const Deadline passed{2 * brief_limit};
  REQUIRE(fixture.world.run_until([&] { return passed.passed(); }));
  fixture.world.ensemble.let_in("one");
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK(late.result());
}

TEST_CASE("phases: a new session whose server lags behind arrives only once") {
  World world{std::chrono::hours{1}};
  auto own = world.client("one");
  auto other = world.client("two");
  std::optional<InterProcessBarrier> one{std::in_place, *own, path, 2};
  std::optional<InterProcessBarrier> two{std::in_place, *other, path, 2};
  Outcome<> first;
  one->async_arrive_and_wait(first.handler());
  REQUIRE(world.run_until([&] { return world.ensemble.children(path).size() == 1; }));
  world.settle();
  // Its session ends before it has read that the phase is over, and the next one begins at a server
  // that does not know it yet.
  world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("one", Faults{{0, {.kind = FaultKind::expire_before}}}));
  world.ensemble.leave_server_behind();
  Outcome<> second;
  two->async_arrive_and_wait(second.handler());
  REQUIRE(world.run_until_arrived(second));
  REQUIRE(world.run_until_arrived(first));
  CHECK_FALSE(first.error());
  CHECK(world.ensemble.operate(request::Get{path}).stat.version == 1);
  one.reset();
  two.reset();
  CHECK(world.end(own));
  CHECK(world.end(other));
}

TEST_CASE("phases: a context that is destroyed under an arrival takes its handler along") {
  const LeaksAreExpected leaks;
  World world;
  auto context = std::make_unique<boost::asio::io_context>(1);
  auto client = std::make_unique<Client>(context->get_executor(), world.options("observed"));
  while (!is_connected(client->connection_state())) context->run_one_for(World::limit);
  const auto owned = std::make_shared<int>();
  std::optional<InterProcessBarrier> barrier{std::in_place, *client, path, 2};
  barrier->async_arrive_and_wait([owned](error_code) {});
  barrier->async_arrive_and_wait_for(World::limit, [owned](error_code, bool) {});
  CHECK(owned.use_count() == 3);
  context->run_one_for(20ms);
  barrier.reset();
  client.reset();
  context.reset();
  CHECK(owned.use_count() == 1);
}

TEST_CASE("phases: bad arguments are refused at once") {
  World world;
  auto client = world.client("one");
  for (const char* bad : {"", "phases", "/", "/a//b"}) {
    INFO(bad);
    CHECK_THROWS_AS((InterProcessBarrier{*client, bad, 2}), Error);
  }
  for (const std::int32_t bad : {-1, 0, InterProcessBarrier::max() + 1}) {
    INFO(bad);
    CHECK_THROWS_AS((InterProcessBarrier{*client, path, bad}), Error);
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::phase_test
