// Barriers' operations, when another client acts, a reply is lost or the servers refuse a request
// at one certain moment.

#include <optional>
#include <string>
#include <vector>

#include "barriers/party_rules.hpp"
#include "custodian/authoring/path.hpp"
#include "scripted/barriers/given_up.hpp"
#include "scripted/barriers/party_fixture.hpp"
#include "scripted/barriers/phase_fixture.hpp"
#include "scripted/enough_time.hpp"
#include "scripted/moments.hpp"

namespace custodian::tests::barrier_moments_test {
namespace {

using party::Fixture;
using party::Member;
using party::ready;

std::vector<std::string> members(World& world) {
  return recipes_detail::members_of(world.ensemble.children(party::path));
}

TEST_CASE("double barrier: a member whose node is deleted before it lists the others fails") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto plan = std::make_shared<Moments>("one");
  plan->before({"children", 0}, [&] {
    for (const auto& each : members(fixture.world)) fixture.world.remove(join(party::path, each));
  });
  fixture.world.ensemble.set_fault_plan(plan);
  const auto entered = one.enter();
  REQUIRE(fixture.world.run_until_arrived(entered));
  CHECK(entered.error() == Errc::node_deleted);
  CHECK(fixture.nodes() == 0);
}

/// A party of another library, and a member that does not join it.
struct Waiting {
  Waiting() {
    fixture.world.make("/parties");
    fixture.world.make(party::path);
    fixture.world.make(other, "python");
    fixture.world.make(ready, "10.0.0.1");
    fixture.world.ensemble.set_fault_plan(plan);
  }
  ~Waiting() { fixture.world.ensemble.set_fault_plan(nullptr); }

  const std::string other = party::path + "/5e0f";
  Fixture fixture;
  Member& late = fixture.add("late", 1, Late::waits);
  // Its looks: the ready node, twice, the other, the ready node, twice, and the other, twice.
  const std::shared_ptr<Moments> plan = std::make_shared<Moments>("late");
};

TEST_CASE("double barrier: a member that withdraws is in if it is counted at that moment") {
  Waiting waiting;
  World& world = waiting.fixture.world;
  waiting.plan->before({"get", 3}, [&] {
    world.ensemble.operate(request::Set{ready, recipes_detail::ready_data(members(world))});
  });
  waiting.fixture.check_done(waiting.late.enter());
  CHECK(waiting.fixture.nodes() == 3);
  world.remove(waiting.other);
  waiting.fixture.check_done(waiting.late.leave());
}

TEST_CASE("double barrier: a member that may not look at those it waits for fails") {
  Waiting waiting;
  World& world = waiting.fixture.world;
  waiting.plan->before({"get", 5}, [&] { world.ensemble.refuse(waiting.other); });
  const auto entered = waiting.late.enter();
  REQUIRE(world.run_until_arrived(entered));
  CHECK(entered.error() == ServerErrc::no_auth);
  CHECK(waiting.fixture.nodes() == 2);
}

TEST_CASE("double barrier: a member enters when those go that it was about to wait for") {
  Waiting waiting;
  World& world = waiting.fixture.world;
  waiting.plan->before({"get", 6}, [&] { world.remove(waiting.other); });
  waiting.fixture.check_done(waiting.late.enter());
  waiting.fixture.check_done(waiting.late.leave());
  CHECK(waiting.fixture.nodes() == 0);
}

TEST_CASE("double barrier: members leave together though the ready node is gone") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  World& world = fixture.world;
  const auto lowest = world.ensemble.operate(request::Get{party::path + "/" + members(world)[0]});
  const bool one_is_first = lowest.stat.ephemeral_owner == one.client->session().id;
  Member& first = one_is_first ? one : two;
  Member& last = one_is_first ? two : one;
  world.remove(ready);
  const auto left = first.leave();
  CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
  CHECK_FALSE(left.arrived());
  // A member that comes now belongs to the next party.
  const std::string next = party::path + "/zz";
  world.make(next);
  const auto also_left = last.leave();
  fixture.check_done(left);
  CHECK(members(world) == std::vector<std::string>{"zz"});
  world.remove(next);
  fixture.check_done(also_left);
  CHECK(fixture.nodes() == 0);
}

TEST_CASE("double barrier: the only member leaves though the ready node is gone") {
  Fixture fixture;
  Member& one = fixture.add("one", 1);
  fixture.check_done(one.enter());
  fixture.world.remove(ready);
  fixture.check_done(one.leave());
  CHECK(fixture.nodes() == 0);
}

/// A member of a client that has given its session up, and may connect again.
struct Entering {
  Entering() {
    barrier->async_enter(entered.handler());
    REQUIRE(world.run_until([&] { return members(world).size() == 1; }));
    world.settle();
    given_up.give_up();
    world.ensemble.set_fault_plan(plan);
  }
  ~Entering() {
    world.ensemble.permit(party::path);
    world.ensemble.permit(ready);
    barrier.reset();
    given_up.end();
  }
  void check_fails(const error_code& error) {
    world.ensemble.let_in("one");
    REQUIRE(world.run_until_arrived(entered));
    CHECK(entered.error() == error);
  }

  GivenUp given_up;
  World& world = given_up.world;
  std::optional<DistributedDoubleBarrier> barrier{std::in_place, *given_up.client, party::path, 2};
  Outcome<bool> entered;
  const std::shared_ptr<Moments> plan = std::make_shared<Moments>("one");
};

TEST_CASE("double barrier: a member with a former node fails when it may not look, or remove it") {
  SECTION("at the barrier") {
    Entering member;
    member.plan->before({"get", 0}, [&] { member.world.ensemble.refuse(party::path); });
    member.check_fails(ServerErrc::no_auth);
  }
  SECTION("at the ready node") {
    Entering member;
    member.plan->before({"get", 1}, [&] {
      member.world.make(ready);
      member.world.ensemble.refuse(ready);
    });
    member.check_fails(ServerErrc::no_auth);
  }
  SECTION("with the removal") {
    Entering member;
    const std::string own = party::path + "/" + members(member.world)[0];
    member.world.ensemble.refuse(own);
    member.check_fails(ServerErrc::no_auth);
    member.world.ensemble.permit(own);
  }
}

TEST_CASE("double barrier: a former node may be counted by a ready node of another library") {
  Entering member;
  member.world.make(ready, "10.0.0.1");
  member.check_fails(Errc::session_lost);
}

/// A member connects again so late that its create has no reply within this time. Returns whether
/// its create was sent in time.
bool create_behind_a_cut(std::chrono::milliseconds time) {
  Fixture fixture;
  World& world = fixture.world;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  world.make("/parties");
  world.make(party::path);
  world.ensemble.cut_off("one");
  REQUIRE(world.run_until([&] { return !is_connected(one.client->connection_state()); }));
  const auto plan = std::make_shared<Moments>("one");
  plan->fault_at({"create", 0}, {.kind = FaultKind::delay});
  world.ensemble.set_fault_plan(plan);
  const Deadline deadline{time};
  Outcome<bool> late;
  one.barrier->async_enter_until(deadline, late.handler());
  world.settle();
  world.ensemble.let_in("one");
  REQUIRE(world.run_until(
      [&] { return late.arrived() || (fixture.nodes() == 1 && deadline.passed()); }));
  if (late.arrived()) return false;
  world.settle();
  CHECK_FALSE(late.arrived());
  fixture.check_done(two.enter());
  world.ensemble.set_fault_plan(nullptr);
  world.ensemble.release_replies();
  fixture.check_done(late);
  fixture.leave_both(two, one);
  return true;
}

TEST_CASE("double barrier: a node that may be created since the client was cut off is not let be") {
  play_with_enough_time(10 * brief_limit, create_behind_a_cut);
}

TEST_CASE("phases: an arrival that a person's write overtakes arrives again") {
  phases::Fixture fixture;
  auto one = fixture.of("one", 2);
  auto two = fixture.of("two", 2);
  const auto first = fixture.waiting(one);
  const auto plan = std::make_shared<Moments>("two");
  plan->before({"multi", 0}, [&] {
    fixture.world.ensemble.operate(request::Set{phases::path, "a note"});
  });
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.check_passed(fixture.arrival(two));
  fixture.check_passed(first);
  fixture.world.ensemble.set_fault_plan(nullptr);
  CHECK(fixture.phases() == 2);
  CHECK(fixture.nodes() == 0);
}

TEST_CASE("phases: an arrival makes a barrier that is deleted before its node is created") {
  phases::Fixture fixture;
  auto one = fixture.of("one", 1);
  fixture.world.make("/phases");
  fixture.world.make(phases::path);
  const auto plan = std::make_shared<Moments>("one");
  plan->before({"create", 0}, [&] { fixture.world.ensemble.remove_tree(phases::path); });
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.check_passed(fixture.arrival(one));
  fixture.world.ensemble.set_fault_plan(nullptr);
  CHECK(fixture.phases() == 1);
}

TEST_CASE(
    "phases: an arrival whose session is given up fails if it may not remove its former node") {
  GivenUp given_up;
  World& world = given_up.world;
  std::optional<InterProcessBarrier> barrier{std::in_place, *given_up.client, phases::path, 2};
  Outcome<> passed;
  barrier->async_arrive_and_wait(passed.handler());
  REQUIRE(world.run_until([&] { return world.ensemble.children(phases::path).size() == 1; }));
  world.settle();
  given_up.give_up();
  const auto plan = std::make_shared<Moments>("one");
  plan->before({"multi", 0}, [&] { world.ensemble.refuse(phases::path); });
  world.ensemble.set_fault_plan(plan);
  world.ensemble.let_in("one");
  REQUIRE(world.run_until_arrived(passed));
  CHECK(passed.error() == ServerErrc::no_auth);
  world.ensemble.permit(phases::path);
  barrier.reset();
  given_up.end();
}

/// An arrival is late, behind a write of the barrier's data. Returns whether it arrived in time.
bool late_behind_a_write(std::chrono::milliseconds time, bool is_lost) {
  phases::Fixture fixture;
  World& world = fixture.world;
  auto one = fixture.of("one", 2);
  const Deadline deadline{time};
  Outcome<bool> late;
  one.async_arrive_and_wait_until(deadline, late.handler());
  REQUIRE(world.run_until([&] { return late.arrived() || fixture.nodes() == 1; }));
  world.settle();
  if (late.arrived()) return false;
  world.ensemble.cut_off("one");
  world.ensemble.operate(request::Set{phases::path, "a note"});
  REQUIRE(world.run_until([&] { return deadline.passed(); }));
  world.settle();
  const auto plan = std::make_shared<Moments>("one");
  if (is_lost) plan->fault_at({"multi", 0}, {.kind = FaultKind::fail_after});
  world.ensemble.set_fault_plan(plan);
  world.ensemble.let_in("one");
  REQUIRE(world.run_until_arrived(late));
  world.ensemble.set_fault_plan(nullptr);
  if (is_lost) {
    CHECK(late.error() == ErrorCondition::outcome_unknown);
  } else {
    CHECK_FALSE(late.error());
  }
  CHECK_FALSE(late.result());
  CHECK(fixture.nodes() == 0);
  return true;
}

TEST_CASE("phases: an arrival that is late behind a person's write is out, or in doubt") {
  for (const bool is_lost : {false, true}) {
    play_with_enough_time(10 * brief_limit, [&](std::chrono::milliseconds time) {
      return late_behind_a_write(time, is_lost);
    });
  }
}

}  // namespace
}  // namespace custodian::tests::barrier_moments_test
