// Parties of a double barrier to which a member is late, in which members of another library are,
// or of which nodes are left.

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "scripted/barriers/party_fixture.hpp"

namespace custodian::tests::double_barrier_company_test {
namespace {

using party::Fixture;
using party::Member;
using party::path;
using party::ready;

TEST_CASE("double barrier: what a crashed party has left behind lets nobody in") {
  Fixture fixture;
  fixture.leave_ready_behind();
  const auto first = fixture.waiting(fixture.add("one"));
  CHECK_FALSE(fixture.world.ensemble.exists(ready));
  const auto second = fixture.add("two").enter();
  fixture.check_done(first);
  fixture.check_done(second);
}

TEST_CASE("double barrier: who comes to a party that is under way joins it, and is waited for") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  Member& late = fixture.add("late");
  fixture.check_done(late.enter());
  const auto left = one.leave();
  const auto also_left = two.leave();
  fixture.world.settle();
  CHECK_FALSE((left.arrived() && also_left.arrived()));
  fixture.check_done(late.leave());
  fixture.check_done(left);
  fixture.check_done(also_left);
}

TEST_CASE(
    "double barrier: a member that shall not join a party waits for its end, without a node") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  Member& late = fixture.add("late", 2, Late::waits);
  const auto next = late.enter();
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.world.ensemble.watches() == 2 && fixture.nodes() == 3; }));
  fixture.leave_both(one, two);
  CHECK_FALSE(next.arrived());
  fixture.check_done(two.enter());
  fixture.check_done(next);
}

TEST_CASE("double barrier: a ready node that another library has left behind lets nobody in") {
  Fixture fixture;
  fixture.world.make("/parties");
  fixture.world.make(path);
  fixture.world.make(ready, "10.0.0.1");
  const auto first = fixture.waiting(fixture.add("one"));
  CHECK_FALSE(fixture.world.ensemble.exists(ready));
  fixture.check_done(fixture.add("two").enter());
  fixture.check_done(first);
}

TEST_CASE("double barrier: a party that another library has completed is joined") {
  Fixture fixture;
  fixture.world.make("/parties");
  fixture.world.make(path);
  const auto counted = fixture.waiting(fixture.add("one", 3));
  fixture.world.make(path + "/5e0f", "python");
  fixture.world.make(ready);
  fixture.check_done(counted);
  fixture.check_done(fixture.add("late", 3).enter());
  CHECK(fixture.nodes() == 4);
}

TEST_CASE("double barrier: one that has left does not wait for a quick member of the next party") {
  // Either of them may be the lowest, which leaves last.
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  for (int round = 0; round < 20; ++round) {
    fixture.enter_both(one, two);
    auto ones = one.leave();
    auto twos = two.leave();
    // The member that learns first of the end enters again before the other member has looked.
    REQUIRE(fixture.world.run_until([&] { return ones.arrived() || twos.arrived(); }));
    Member& quick = ones.arrived() ? one : two;
    Member& other = ones.arrived() ? two : one;
    const auto next = quick.enter();
    fixture.check_done(ones);
    fixture.check_done(twos);
    fixture.check_done(other.enter());
    fixture.check_done(next);
    fixture.leave_both(one, two);
  }
}

TEST_CASE("double barrier: a member of another library that enters again is not waited for") {
  // The member has the same node name as in the last party.
  Fixture fixture;
  fixture.world.make("/parties");
  fixture.world.make(path);
  const std::string lowest = path + "/-1";
  fixture.world.make(lowest, "java");
  Member& one = fixture.add("one");
  fixture.check_done(one.enter());
  const auto left = one.leave();
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.world.ensemble.cut_off("one");
  fixture.world.settle();
  fixture.world.remove(ready);
  fixture.world.remove(lowest);
  fixture.world.make(lowest, "java");
  fixture.world.ensemble.let_in("one");
  fixture.check_done(left);
}

TEST_CASE("double barrier: a member that enters again is not counted beside its former node") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto name = [&] { return fixture.world.ensemble.children(path).at(0); };
  const auto first = fixture.waiting(one);
  // As if it were on its way out: the last part is the member's.
  const std::string former = "_c_00000000-0000-4000-8000-000000000000" + name().substr(39);
  fixture.world.make(path + "/" + former, "one");
  Member& two = fixture.add("two", 3);
  const auto second = two.enter();
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 2; }));
  fixture.world.settle();
  CHECK_FALSE(second.arrived());
  CHECK_FALSE(fixture.world.ensemble.exists(ready));
  for (Member& each : fixture.members) each.client->close();
  REQUIRE(fixture.world.run_until_arrived(first));
  REQUIRE(fixture.world.run_until_arrived(second));
}

TEST_CASE("double barrier: the last one to leave notices a member that has just joined") {
  Fixture fixture;
  Member& one = fixture.add("one", 1);
  fixture.check_done(one.enter());
  Member& late = fixture.add("late", 1);
  // It joins between the listing and the transaction that ends the party.
  const auto plan = std::make_shared<FaultsAt>("one", Faults{{1, {.kind = FaultKind::delay}}});
  fixture.world.ensemble.set_fault_plan(plan);
  const auto left = one.leave();
  REQUIRE(fixture.world.run_until([&] { return plan->steps() == 2; }));
  fixture.check_done(late.enter());
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.world.ensemble.release_replies();
  fixture.world.settle();
  CHECK_FALSE(left.arrived());
  CHECK(fixture.world.ensemble.exists(ready));
  fixture.check_done(late.leave());
  fixture.check_done(left);
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 0; }));
}

TEST_CASE("double barrier: a member that is late, and was counted in time, is in") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Outcome<bool> late;
  one.barrier->async_enter_for(brief_limit, late.handler());
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.world.ensemble.watches() == 1 && fixture.nodes() == 1; }));
  fixture.world.ensemble.cut_off("one");
  Member& two = fixture.add("two");
  fixture.check_done(two.enter());
  const Deadline passed{2 * brief_limit};
  REQUIRE(fixture.world.run_until([&] { return passed.passed(); }));
  fixture.world.ensemble.let_in("one");
  fixture.check_done(late);
}

TEST_CASE("double barrier: one that has come, and has not joined, is not waited for") {
  // It may have the lowest name, and belong to the next party.
  for (int round = 0; round < 10; ++round) {
    Fixture fixture;
    Member& one = fixture.add("one");
    Member& two = fixture.add("two");
    fixture.enter_both(one, two);
    Member& late = fixture.add("late");
    const auto plan = std::make_shared<FaultsAt>("late", Faults{{1, {.kind = FaultKind::delay}}});
    fixture.world.ensemble.set_fault_plan(plan);
    const auto next = late.enter();
    REQUIRE(fixture.world.run_until([&] { return plan->steps() == 2; }));
    fixture.world.settle();
    CHECK(fixture.nodes() == 4);
    fixture.leave_both(one, two);
    fixture.world.ensemble.set_fault_plan(nullptr);
    fixture.world.ensemble.release_replies();
    fixture.check_done(one.enter());
    fixture.check_done(next);
  }
}

TEST_CASE("double barrier: one that is late joins nobody that has gone meanwhile") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  Member& late = fixture.add("late");
  // Both die between the look at the ready node and the transaction that joins them.
  const auto plan = std::make_shared<FaultsAt>("late");
  std::size_t reads = 0;
  plan->replying = [&](std::size_t) {
    const auto history = fixture.world.ensemble.history();
    if (history.back().path != ready || history.back().kind != "get" || ++reads != 2) return;
    fixture.world.ensemble.expire(one.client->session().id);
    fixture.world.ensemble.expire(two.client->session().id);
  };
  fixture.world.ensemble.set_fault_plan(plan);
  const auto alone = late.enter();
  REQUIRE(
      fixture.world.run_until([&] { return reads >= 2 && !fixture.world.ensemble.exists(ready); }));
  fixture.world.settle();
  CHECK_FALSE(alone.arrived());
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.check_done(fixture.add("three").enter());
  fixture.check_done(alone);
}

}  // namespace
}  // namespace custodian::tests::double_barrier_company_test
