// What the arrivals at an InterProcessBarrier see when its node, or their own, is not theirs any
// more.

#include <list>
#include <optional>

#include "scripted/barriers/phase_fixture.hpp"

namespace custodian::tests::phase_losses_test {
namespace {

using phases::Fixture;
using phases::path;

TEST_CASE("phases: those that wait at a barrier which is deleted by hand are told") {
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

TEST_CASE("phases: who has read a barrier that was deleted arrives at the one that is there") {
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

}  // namespace
}  // namespace custodian::tests::phase_losses_test
