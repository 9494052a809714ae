// Members of a double barrier's party: how they enter and leave together, and how they end.

#include <boost/asio/io_context.hpp>
#include <list>
#include <optional>

#include "scripted/barriers/party_fixture.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::double_barrier_test {
namespace {

using namespace std::chrono_literals;
using party::Fixture;
using party::Member;
using party::path;
using party::ready;

TEST_CASE("double barrier: members are in when so many are there, and out when all have left") {
  Fixture fixture;
  std::list<Outcome<bool>> waiting;
  for (const char* name : {"one", "two", "three", "four"}) {
    waiting.push_back(fixture.waiting(fixture.add(name, 5)));
  }
  const auto last = fixture.add("five", 5).enter();
  fixture.check_done(last);
  for (const auto& each : waiting) fixture.check_done(each);
  CHECK(fixture.world.ensemble.exists(ready));
  std::list<Outcome<bool>> leaving;
  for (Member& each : fixture.members) leaving.push_back(each.leave());
  for (const auto& each : leaving) fixture.check_done(each);
  CHECK(fixture.nodes() == 0);
  CHECK(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 0; }));
}

TEST_CASE("double barrier: nobody is out before all have left") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  const auto first = one.enter();
  const auto second = two.enter();
  fixture.check_done(first);
  fixture.check_done(second);
  const auto left = one.leave();
  CHECK(fixture.world.run_until([&] { return fixture.world.ensemble.watches() > 0; }));
  fixture.world.settle();
  CHECK_FALSE(left.arrived());
  fixture.check_done(two.leave());
  fixture.check_done(left);
}

TEST_CASE("double barrier: one path serves party after party") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Member& two = fixture.add("two");
  for (int round = 0; round < 100; ++round) {
    const auto first = one.enter();
    const auto second = two.enter();
    fixture.check_done(first);
    fixture.check_done(second);
    fixture.leave_both(one, two);
    CHECK(fixture.nodes() == 0);
  }
}

TEST_CASE("double barrier: a member that gives up is not counted") {
  Fixture fixture;
  Member& one = fixture.add("one");
  Outcome<bool> late;
  one.barrier->async_enter_until(brief_limit, late.handler());
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  CHECK(fixture.nodes() == 0);
  const auto sent = fixture.world.ensemble.history().size();
  Outcome<bool> without_time;
  one.barrier->async_enter_for(0s, without_time.handler());
  REQUIRE(fixture.world.run_until_arrived(without_time));
  CHECK((!without_time.error() && !without_time.result()));
  fixture.world.settle();
  CHECK(fixture.world.ensemble.history().size() == sent);
  const auto second = fixture.waiting(fixture.add("two"));
  fixture.check_done(one.enter());
  fixture.check_done(second);
}

TEST_CASE("double barrier: a member whose node is deleted learns it, and the others wait on") {
  Fixture fixture;
  const auto deleted = fixture.waiting(fixture.add("one"));
  fixture.world.remove(path + "/" + fixture.world.ensemble.children(path).at(0));
  const auto second = fixture.waiting(fixture.add("two"));
  const auto third = fixture.add("three").enter();
  fixture.check_done(second);
  fixture.check_done(third);
  REQUIRE(fixture.world.run_until_arrived(deleted));
  CHECK(deleted.error() == Errc::node_deleted);
}

TEST_CASE("double barrier: a member that loses its session begins again") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto first = fixture.waiting(one);
  const std::int64_t before = one.client->session().id;
  fixture.world.ensemble.expire(before);
  REQUIRE(fixture.world.run_until([&] {
    const std::int64_t now = one.client->session().id;
    return now != before && now != 0 && fixture.nodes() == 1 &&
           fixture.world.ensemble.watches(now) == 1;
  }));
  CHECK_FALSE(first.arrived());
  fixture.check_done(fixture.add("two").enter());
  fixture.check_done(first);
}

TEST_CASE("double barrier: a member that is counted and loses its session learns that") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto first = fixture.waiting(one);
  fixture.world.ensemble.cut_off("one");
  fixture.world.settle();
  Member& two = fixture.add("two");
  fixture.check_done(two.enter());
  fixture.world.ensemble.expire(one.client->session().id);
  fixture.world.ensemble.let_in("one");
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(first.error() == Errc::session_lost);
  fixture.check_done(two.leave());
}

TEST_CASE("double barrier: a member that is counted, and hears of it when all is over, learns it") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto first = fixture.waiting(one);
  fixture.world.ensemble.cut_off("one");
  fixture.world.settle();
  Member& two = fixture.add("two");
  fixture.check_done(two.enter());
  fixture.world.ensemble.expire(one.client->session().id);
  fixture.check_done(two.leave());
  CHECK(fixture.nodes() == 0);
  fixture.world.ensemble.let_in("one");
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(first.error() == Errc::session_lost);
}

TEST_CASE("double barrier: operations out of turn, and bad arguments, are refused") {
  Fixture fixture;
  Member& one = fixture.add("one", 1);
  const auto out_of_turn = one.leave();
  REQUIRE(fixture.world.run_until_arrived(out_of_turn));
  CHECK(out_of_turn.error() == Errc::invalid_argument);
  fixture.check_done(one.enter());
  const auto again = one.enter();
  REQUIRE(fixture.world.run_until_arrived(again));
  CHECK(again.error() == Errc::invalid_argument);
  fixture.check_done(one.leave());
  for (const std::int32_t bad : {-1, 0, DistributedDoubleBarrier::max() + 1}) {
    CHECK_THROWS_AS((DistributedDoubleBarrier{*one.client, path, bad}), Error);
  }
  CHECK_THROWS_AS((DistributedDoubleBarrier{*one.client, "/", 2}), Error);
  CHECK_THROWS_AS((DistributedDoubleBarrier{*one.client, "parties", 2}), Error);
}

TEST_CASE("double barrier: a client that closes ends the wait, and its node goes") {
  Fixture fixture;
  Member& one = fixture.add("one");
  const auto first = fixture.waiting(one);
  one.client->close();
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(first.error() == Errc::closed);
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 0; }));
}

TEST_CASE("double barrier: a context that is destroyed under it takes its handler along") {
  const LeaksAreExpected leaks;
  World world;
  auto context = std::make_unique<boost::asio::io_context>(1);
  auto client = std::make_unique<Client>(context->get_executor(), world.options("observed"));
  while (!is_connected(client->connection_state())) context->run_one_for(World::limit);
  const auto owned = std::make_shared<int>();
  std::optional<DistributedDoubleBarrier> barrier{std::in_place, *client, path, 2};
  barrier->async_enter([owned](error_code, bool) {});
  CHECK(owned.use_count() == 2);
  while (world.ensemble.watches() == 0) context->run_one_for(20ms);
  barrier.reset();
  client.reset();
  context.reset();
  CHECK(owned.use_count() == 1);
}

}  // namespace
}  // namespace custodian::tests::double_barrier_test
