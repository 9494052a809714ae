// Members of a double barrier when a party ends in another way than by leave(), or when their
// session, or the barrier's node, is gone.

#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "barriers/party_rules.hpp"
#include "scripted/barriers/given_up.hpp"
#include "scripted/barriers/party_fixture.hpp"

namespace custodian::tests::double_barrier_losses_test {
namespace {

using party::Fixture;
using party::Member;
using party::path;
using party::ready;

/// A party of two, and two members that wait for the next one.
struct Next {
  Next() {
    fixture.enter_both(one, two);
    for (const char* name : {"three", "four"}) {
      Member& late = fixture.add(name, 2, Late::waits);
      waiting.push_back(late.enter());
      // Each watches the ready node, and a member.
      REQUIRE(fixture.world.run_until([&] {
        return fixture.world.ensemble.watches(late.client->session().id) == 2 &&
               fixture.nodes() == 3;
      }));
    }
    fixture.world.settle();
  }
  void check_begun() {
    for (const auto& each : waiting) fixture.check_done(each);
  }

  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  std::list<Outcome<bool>> waiting;
};

TEST_CASE("double barrier: those that wait for the next party hear of a crash of this one") {
  Next next;
  for (Member* each : {&next.one, &next.two}) {
    CHECK_FALSE(next.waiting.front().arrived());
    next.fixture.world.ensemble.expire(each->client->session().id);
    next.fixture.world.settle();
  }
  next.check_begun();
}

TEST_CASE("double barrier: those that wait for the next party hear of a last one that gives up") {
  Next next;
  for (Member* each : {&next.one, &next.two}) {
    Outcome<bool> left;
    each->barrier->async_leave_for(brief_limit, left.handler());
    REQUIRE(next.fixture.world.run_until_arrived(left));
  }
  // Its node goes, and the ready node stays until the next party.
  next.check_begun();
}

TEST_CASE("double barrier: those that wait for the next party hear of another library's crash") {
  Fixture fixture;
  fixture.world.make("/parties");
  fixture.world.make(path);
  fixture.world.make(path + "/5e0f", "python");
  fixture.world.make(ready);
  Member& late = fixture.add("late", 1, Late::waits);
  const auto waiting = late.enter();
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.world.ensemble.watches() == 2 && fixture.nodes() == 2; }));
  fixture.world.settle();
  CHECK_FALSE(waiting.arrived());
  fixture.world.remove(path + "/5e0f");
  fixture.check_done(waiting);
}

/// A member that waits, and is counted while it is cut off, and whose session ends then.
struct Counted {
  Counted() {
    fixture.world.ensemble.cut_off("one");
    fixture.world.settle();
    fixture.check_done(two.enter());
    fixture.world.ensemble.expire(one.client->session().id);
    fixture.check_done(two.leave());
    CHECK(fixture.nodes() == 0);
  }
  void check_that_it_learns_that() {
    fixture.world.ensemble.let_in("one");
    REQUIRE(fixture.world.run_until_arrived(entering));
    CHECK(entering.error() == Errc::session_lost);
  }

  Fixture fixture;
  Member& one = fixture.add("one");
  Outcome<bool> entering = fixture.waiting(one);
  Member& two = fixture.add("two");
};

TEST_CASE("double barrier: a member that is counted learns it, though the barrier's node is gone") {
  Counted counted;
  counted.fixture.world.ensemble.reap_containers();
  REQUIRE_FALSE(counted.fixture.world.ensemble.exists(path));
  counted.check_that_it_learns_that();
}

TEST_CASE("double barrier: a member that is counted learns it, though another party was there") {
  for (const bool is_anew : {false, true}) {
    Counted counted;
    if (is_anew) counted.fixture.world.ensemble.reap_containers();
    Member& three = counted.fixture.add("three");
    const auto entering = counted.two.enter();
    counted.fixture.check_done(three.enter());
    counted.fixture.check_done(entering);
    const auto leaving = counted.two.leave();
    counted.fixture.check_done(three.leave());
    counted.fixture.check_done(leaving);
    counted.check_that_it_learns_that();
  }
}

/// Completes a party with the members that are there, as another process would.
void complete_party(World& world) {
  const auto names = recipes_detail::members_of(world.ensemble.children(path));
  const std::string data = recipes_detail::ready_data(names);
  world.ensemble.operate(request::Set{path, data});
  world.make(ready, data);
}

/// A member of a client that gives its session up.
struct Entering {
  explicit Entering(Deadline until = Deadline::never()) {
    barrier->async_enter_until(until, entered.handler());
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
  std::optional<DistributedDoubleBarrier> barrier{std::in_place, *given_up.client, path, 2};
  Outcome<bool> entered;
};

TEST_CASE("double barrier: a member whose session is given up is not counted behind its look") {
  Entering member;
  const auto former = member.world.ensemble.children(path);
  member.given_up.behind_read_of(ready, [&] { complete_party(member.world); });
  member.world.ensemble.let_in("one");
  REQUIRE(member.world.run_until_arrived(member.entered));
  CHECK(member.entered.error() == Errc::session_lost);
  member.end();
}

TEST_CASE("double barrier: a member whose session is given up begins again without its old node") {
  Entering member;
  const auto former = member.world.ensemble.children(path);
  member.world.ensemble.let_in("one");
  REQUIRE(member.world.run_until([&] {
    const auto names = member.world.ensemble.children(path);
    return names.size() == 1 && names != former;
  }));
  member.world.settle();
  CHECK_FALSE(member.entered.arrived());
  auto client = member.world.client("two");
  std::optional<DistributedDoubleBarrier> other{std::in_place, *client, path, 2};
  Outcome<bool> last;
  other->async_enter(last.handler());
  REQUIRE(member.world.run_until_arrived(last));
  REQUIRE(member.world.run_until_arrived(member.entered));
  CHECK((!last.error() && !member.entered.error()));
  other.reset();
  CHECK(member.world.end(client));
  member.end();
}

TEST_CASE("double barrier: a member that is late, and whose session is given up, is out for good") {
  const Deadline deadline{10 * brief_limit};
  Entering member{deadline};
  REQUIRE(member.world.run_until([&] { return deadline.passed(); }));
  member.world.settle();
  member.given_up.behind_read_of(ready, [&] { complete_party(member.world); });
  member.world.ensemble.let_in("one");
  REQUIRE(member.world.run_until_arrived(member.entered));
  CHECK(member.entered.error() == Errc::session_lost);
  member.end();
}

TEST_CASE("double barrier: a member joins nobody when its session has just ended") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  Member& late = fixture.add("late");
  // It ends behind the listing, with the second look at the ready node.
  const auto plan =
      std::make_shared<FaultsAt>("late", Faults{{5, {.kind = FaultKind::expire_before}}});
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.check_done(late.enter());
  fixture.world.ensemble.set_fault_plan(nullptr);
  CHECK(fixture.nodes() == 4);
  const auto left = one.leave();
  const auto also_left = two.leave();
  fixture.world.settle();
  CHECK_FALSE((left.arrived() && also_left.arrived()));
  fixture.check_done(late.leave());
  fixture.check_done(left);
  fixture.check_done(also_left);
}

TEST_CASE("double barrier: one that gives up while its node is created is in if that was counted") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  fixture.world.make("/parties");
  fixture.world.make(path);
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("one", Faults{{0, {.kind = FaultKind::delay}}}));
  const Deadline deadline{brief_limit};
  Outcome<bool> late;
  one.barrier->async_enter_until(deadline, late.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.nodes() == 1 && deadline.passed(); }));
  fixture.world.settle();
  CHECK_FALSE(late.arrived());
  fixture.check_done(two.enter());
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.world.ensemble.release_replies();
  fixture.check_done(late);
  fixture.leave_both(two, one);
}

TEST_CASE("double barrier: one that has found no server is late when its time is over, and out") {
  Fixture fixture;
  Member& one = fixture.add("one");
  fixture.world.ensemble.cut_off("one");
  REQUIRE(fixture.world.run_until([&] { return !is_connected(one.client->connection_state()); }));
  Outcome<bool> late;
  one.barrier->async_enter_for(brief_limit, late.handler());
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK((!late.error() && !late.result()));
  fixture.world.ensemble.let_in("one");
}

}  // namespace
}  // namespace custodian::tests::double_barrier_losses_test
