// Arrivals at an InterProcessBarrier when the barrier's node, or their own, was deleted or
// replaced.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scripted/barriers/given_up.hpp"
#include "scripted/barriers/phase_fixture.hpp"

namespace custodian::tests::phase_losses_test {
namespace {

using phases::Fixture;
using phases::path;

TEST_CASE("phases: waiters at a barrier that is deleted by hand end with an error") {
  for (const std::int32_t phases : {0, 3}) {
    Fixture fixture;
    auto one = fixture.of("one", 3);
    auto two = fixture.of("two", 3);
    for (std::int32_t phase = 0; phase < phases; ++phase) {
      const auto first = fixture.waiting(one);
      const auto second = fixture.waiting(two);
      fixture.check_passed(fixture.arrival(one));
      fixture.check_passed(first);
      fixture.check_passed(second);
    }
    const auto first = fixture.waiting(one);
    const auto second = fixture.waiting(two);
    const std::size_t sent = fixture.world.ensemble.history().size();
    fixture.world.ensemble.remove_tree(path);
    for (const auto* each : {&first, &second}) {
      REQUIRE(fixture.world.run_until(
          [&] { return each->arrived() || fixture.world.ensemble.history().size() > sent + 50; }));
      REQUIRE(each->arrived());
      CHECK(each->error() == Errc::node_deleted);
    }
    fixture.world.settle();
    CHECK(fixture.nodes() == 0);
  }
}

TEST_CASE("phases: a barrier that is deleted while one arrives has deleted its node") {
  for (const std::int32_t phases : {0, 2}) {
    Fixture fixture;
    auto one = fixture.of("one", 2);
    auto two = fixture.of("two", 2);
    for (std::int32_t phase = 0; phase <= phases; ++phase) {
      const auto first = fixture.waiting(two);
      fixture.check_passed(fixture.arrival(one));
      fixture.check_passed(first);
    }
    if (phases == 0) {
      fixture.world.ensemble.remove_tree(path);
      fixture.world.make(path);
    }
    // Between the create and the listing.
    const auto plan = std::make_shared<FaultsAt>("one");
    plan->replying = [&](std::size_t) {
      const auto history = fixture.world.ensemble.history();
      if (history.back().kind == "create") fixture.world.ensemble.remove_tree(path);
    };
    fixture.world.settle();
    fixture.world.ensemble.clear_history();
    fixture.world.ensemble.set_fault_plan(plan);
    const auto alone = fixture.arrival(one);
    REQUIRE(fixture.world.run_until([&] { return !fixture.world.ensemble.exists(path); }));
    fixture.world.ensemble.set_fault_plan(nullptr);
    REQUIRE(fixture.world.run_until_arrived(alone));
    CHECK(alone.error() == Errc::node_deleted);
  }
}

TEST_CASE("phases: a process that has read a deleted barrier arrives at the present one") {
  World world{std::chrono::hours{1}};
  auto other = world.client("two");
  std::optional<InterProcessBarrier> two{std::in_place, *other, path, 2};
  for (int phase = 0; phase < 3; ++phase) {
    Outcome<> first;
    Outcome<> second;
    two->async_arrive_and_wait(first.handler());
    two->async_arrive_and_wait(second.handler());
    REQUIRE(world.run_until_arrived(first));
    REQUIRE(world.run_until_arrived(second));
  }
  REQUIRE(world.run_until_idle(*other));
  // The server of the next session shows the barrier of the run before, in its phase 3.
  world.ensemble.leave_server_behind();
  world.ensemble.remove_tree(path);
  world.make(path);
  auto own = world.client("one");
  std::optional<InterProcessBarrier> one{std::in_place, *own, path, 2};
  const std::size_t sent = world.ensemble.history().size();
  Outcome<> late;
  one->async_arrive_and_wait(late.handler());
  REQUIRE(world.run_until([&] {
    return world.ensemble.watches() == 1 || world.ensemble.history().size() > sent + 50;
  }));
  CHECK(world.run_until([&] { return world.ensemble.children(path).size() == 1; }));
  Outcome<> last;
  two->async_arrive_and_wait(last.handler());
  REQUIRE(world.run_until_arrived(last));
  REQUIRE(world.run_until_arrived(late));
  CHECK((!last.error() && !late.error()));
  CHECK(world.ensemble.operate(request::Get{path}).stat.version == 1);
  one.reset();
  two.reset();
  CHECK(world.end(own));
  CHECK(world.end(other));
}

/// Ends the phase with the nodes that are there, as another process would.
void end_phase(World& world) {
  std::string data;
  for (const std::string& name : world.ensemble.children(path)) {
    data.append(name).append("\n");
    world.remove(path + "/" + name);
  }
  world.ensemble.operate(request::Set{path, data});
}

/// An arrival of a client that gives its session up.
struct Arriving {
  explicit Arriving(Deadline until = Deadline::never()) {
    barrier->async_arrive_and_wait_until(until, passed.handler());
    REQUIRE(world.run_until([&] { return world.ensemble.children(path).size() == 1; }));
    world.settle();
    given_up.give_up();
  }
  void end() {
    barrier.reset();
    given_up.end();
  }

  GivenUp given_up;
  World& world = given_up.world;
  std::optional<InterProcessBarrier> barrier{std::in_place, *given_up.client, path, 2};
  Outcome<bool> passed;
};

TEST_CASE("phases: one whose session is given up has passed if its node is counted since") {
  Arriving arrival;
  World& world = arrival.world;
  arrival.given_up.behind_read_of(path, [&] { end_phase(world); });
  world.ensemble.let_in("one");
  REQUIRE(world.run_until_arrived(arrival.passed));
  CHECK_FALSE(arrival.passed.error());
  CHECK(world.ensemble.operate(request::Get{path}).stat.version == 1);
  CHECK(world.ensemble.children(path).empty());
  arrival.end();
}

TEST_CASE("phases: one whose session is given up arrives again, and its former node is gone") {
  Arriving arrival;
  World& world = arrival.world;
  const auto& passed = arrival.passed;
  const auto former = world.ensemble.children(path);
  world.ensemble.let_in("one");
  REQUIRE(world.run_until([&] { return world.ensemble.children(path) != former; }));
  CHECK(world.run_until([&] { return world.ensemble.children(path).size() == 1; }));
  world.settle();
  CHECK_FALSE(passed.arrived());
  auto client = world.client("two");
  std::optional<InterProcessBarrier> other{std::in_place, *client, path, 2};
  Outcome<> last;
  other->async_arrive_and_wait(last.handler());
  REQUIRE(world.run_until_arrived(last));
  REQUIRE(world.run_until_arrived(passed));
  CHECK((!last.error() && !passed.error()));
  CHECK(world.ensemble.operate(request::Get{path}).stat.version == 1);
  other.reset();
  CHECK(world.end(client));
  arrival.end();
}

/// Lets an arrival be late while it can reach no server, and lets it in then.
void be_late(World& world, Deadline deadline) {
  world.ensemble.cut_off("one");
  REQUIRE(world.run_until([&] { return deadline.passed(); }));
  world.settle();
  world.ensemble.let_in("one");
}

TEST_CASE("phases: one that is late, and whose session is given up, is taken back in its old one") {
  const Deadline deadline{10 * brief_limit};
  Arriving arrival{deadline};
  World& world = arrival.world;
  const auto& late = arrival.passed;
  arrival.given_up.behind_read_of(path, [&] { end_phase(world); });
  be_late(world, deadline);
  REQUIRE(world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  // It is counted before the look, or its node is gone before.
  const bool is_counted = world.ensemble.operate(request::Get{path}).data.size() > 1;
  CHECK(late.result() == is_counted);
  CHECK(world.ensemble.children(path).empty());
  arrival.end();
}

TEST_CASE("phases: one that is taken back does not make a barrier anew that was deleted") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  const Deadline deadline{10 * brief_limit};
  Outcome<bool> late;
  one.async_arrive_and_wait_until(deadline, late.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.nodes() == 1; }));
  fixture.world.settle();
  fixture.world.ensemble.cut_off("one");
  fixture.world.ensemble.remove_tree(path);
  be_late(fixture.world, deadline);
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK((!late.error() && !late.result()));
  CHECK_FALSE(fixture.world.ensemble.exists(path));
}

TEST_CASE("phases: one that was counted has passed, though a late create brings its node back") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  fixture.world.make("/phases");
  fixture.world.make(path);
  // The barrier is read, and then the node created.
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("one", Faults{{1, {.kind = FaultKind::apply_late}}}));
  const Deadline deadline{10 * brief_limit};
  Outcome<bool> late;
  one.async_arrive_and_wait_until(deadline, late.handler());
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.nodes() == 1 && fixture.world.ensemble.watches() == 1; }));
  fixture.world.settle();
  fixture.world.ensemble.cut_off("one");
  fixture.check_passed(fixture.arrival(two));
  REQUIRE(fixture.nodes() == 0);
  CHECK(fixture.world.ensemble.apply_late_requests() == 1);
  REQUIRE(fixture.nodes() == 1);
  be_late(fixture.world, deadline);
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK(late.result());
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 0; }));
}

/// The create of a node is its client's second request; the reply to it is held back.
void hold_the_create_back(World& world, std::size_t at) {
  world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("one", Faults{{at, {.kind = FaultKind::delay}}}));
}

TEST_CASE("phases: one that gives up while its node is created has passed if that was counted") {
  Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  fixture.world.make("/phases");
  fixture.world.make(path);
  hold_the_create_back(fixture.world, 1);
  const Deadline deadline{brief_limit};
  Outcome<bool> late;
  one.async_arrive_and_wait_until(deadline, late.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.nodes() == 1 && deadline.passed(); }));
  fixture.world.settle();
  CHECK_FALSE(late.arrived());
  fixture.check_passed(fixture.arrival(two));
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.world.ensemble.release_replies();
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK((!late.error() && late.result()));
}

TEST_CASE("phases: one that gives up, and does not hear of its create, does not know its outcome") {
  Fixture fixture;
  ClientOptions options = fixture.world.options("one");
  options.operation_timeout = 10 * brief_limit;
  fixture.clients.push_back(fixture.world.client(std::move(options)));
  InterProcessBarrier one{*fixture.clients.back(), path, 2};
  fixture.world.make("/phases");
  fixture.world.make(path);
  hold_the_create_back(fixture.world, 1);
  Outcome<bool> late;
  one.async_arrive_and_wait_for(brief_limit, late.handler());
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK(late.error() == Errc::deadline_exceeded_outcome_unknown);
  CHECK(fixture.nodes() == 1);
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.world.ensemble.release_replies();
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 0; }));
}

TEST_CASE("phases: one that cannot be taken back does not know its outcome, without retries, too") {
  Fixture fixture;
  ClientOptions options = fixture.world.options("one");
  options.retry = RetryPolicy::none();
  fixture.clients.push_back(fixture.world.client(std::move(options)));
  InterProcessBarrier one{*fixture.clients.back(), path, 2};
  const Deadline deadline{10 * brief_limit};
  Outcome<bool> late;
  one.async_arrive_and_wait_until(deadline, late.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.nodes() == 1; }));
  fixture.world.settle();
  fixture.world.ensemble.cut_off("one");
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK(late.error() == Errc::deadline_exceeded_outcome_unknown);
  fixture.world.ensemble.let_in("one");
}

}  // namespace
}  // namespace custodian::tests::phase_losses_test
