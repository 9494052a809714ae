// Count-down latches: the changes that waits notice, their requests, and arrivals through failures.

#include <boost/asio/io_context.hpp>
#include <optional>

#include "barriers/latch_tickets.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::latch_test {
namespace {

using namespace std::chrono_literals;
using recipes_detail::ticket_name;

const std::string path = "/latches/one";
constexpr std::int32_t expected = 3;

/// A world with a latch at which one arrival is missing.
struct Fixture {
  Fixture() {
    world.make("/latches");
    world.make(path, std::to_string(expected));
    arrive(0);
    arrive(1);
    world.ensemble.clear_history();
  }
  ~Fixture() {
    world.run_until_idle(*client);
    CHECK(world.ensemble.watches() == 0);
    latch.reset();
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void arrive(std::int32_t number) { world.make(path + "/" + ticket_name(number), "rival"); }
  [[nodiscard]] Outcome<> waiting() {
    Outcome<> opened;
    latch->async_wait(opened.handler());
    CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
    world.settle();
    CHECK_FALSE(opened.arrived());
    return opened;
  }
  void check_open(const Outcome<>& opened) {
    REQUIRE(world.run_until_arrived(opened));
    CHECK_FALSE(opened.error());
  }
  [[nodiscard]] error_code count_down(std::int32_t arrivals, OperationOptions options = {}) {
    const auto counted =
        run<>(world, [&](auto done) { latch->async_count_down(arrivals, options, done); });
    REQUIRE(counted.arrived());
    return counted.error();
  }
  [[nodiscard]] std::size_t tickets() { return world.ensemble.children(path).size(); }

  World world{std::chrono::hours{1}};
  std::unique_ptr<Client> client = world.client("observed");
  std::optional<CountDownLatch> latch{std::in_place, *client, path, expected};
};

TEST_CASE("count-down latch: a wait ends with the last arrival's event, without another request") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  const std::size_t requests = fixture.world.ensemble.history().size();
  CHECK(requests == 2);
  fixture.arrive(2);
  fixture.check_open(opened);
  CHECK(fixture.world.ensemble.history().size() == requests);
}

TEST_CASE("count-down latch: an arrival that is not the last wakes nobody") {
  Fixture fixture;
  fixture.world.remove(path + "/" + ticket_name(1));
  const auto opened = fixture.waiting();
  const std::size_t requests = fixture.world.ensemble.history().size();
  fixture.arrive(1);
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  CHECK(fixture.world.ensemble.history().size() == requests);
  CHECK(fixture.world.ensemble.watches() == 1);
  fixture.arrive(2);
  fixture.check_open(opened);
}

TEST_CASE("count-down latch: a latch that opens while a waiter is cut off lets it through") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.world.ensemble.cut_off("observed");
  fixture.world.settle();
  fixture.arrive(2);
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  fixture.world.ensemble.let_in("observed");
  fixture.check_open(opened);
}

TEST_CASE("count-down latch: a wait goes on in the next session, and notices what it has missed") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  const std::int64_t first = fixture.client->session().id;
  fixture.world.ensemble.expire(first);
  REQUIRE(fixture.world.run_until([&] {
    const std::int64_t now = fixture.client->session().id;
    return now != first && now != 0 && fixture.world.ensemble.watches(now) == 1;
  }));
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  fixture.world.ensemble.cut_off("observed");
  fixture.world.settle();
  fixture.world.ensemble.expire(fixture.client->session().id);
  fixture.arrive(2);
  fixture.world.ensemble.let_in("observed");
  fixture.check_open(opened);
}

TEST_CASE("count-down latch: a wait with a limit says whether the latch was open in time") {
  Fixture fixture;
  const auto late = run<bool>(fixture.world,
                              [&](auto done) { fixture.latch->async_wait_for(brief_limit, done); });
  REQUIRE(late.arrived());
  CHECK((!late.error() && !late.result()));
  CHECK(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 0; }));
  Outcome<bool> opened;
  fixture.latch->async_wait_for(World::limit, opened.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.arrive(2);
  REQUIRE(fixture.world.run_until_arrived(opened));
  CHECK((!opened.error() && opened.result()));
}

TEST_CASE("count-down latch: a wait without time asks once") {
  Fixture fixture;
  const auto ask = [&] {
    return run<bool>(fixture.world, [&](auto done) { fixture.latch->async_wait_for(0s, done); });
  };
  const auto closed = ask();
  REQUIRE(closed.arrived());
  CHECK((!closed.error() && !closed.result()));
  fixture.world.ensemble.cut_off("observed");
  fixture.world.settle();
  const auto away = ask();
  REQUIRE(away.arrived());
  CHECK((!away.error() && !away.result()));
  fixture.world.ensemble.let_in("observed");
  REQUIRE(
      fixture.world.run_until([&] { return is_connected(fixture.client->connection_state()); }));
  fixture.arrive(2);
  const auto open = ask();
  REQUIRE(open.arrived());
  CHECK((!open.error() && open.result()));
}

TEST_CASE(
    "count-down latch: clients that expect different numbers are refused, all but the first") {
  Fixture fixture;
  const CountDownLatch other{*fixture.client, path, expected + 1};
  const auto waited = run<>(fixture.world, [&](auto done) { other.async_wait(done); });
  REQUIRE(waited.arrived());
  CHECK(waited.error() == Errc::invalid_argument);
  CountDownLatch arriving{other};
  const auto counted = run<>(fixture.world, [&](auto done) { arriving.async_count_down(done); });
  REQUIRE(counted.arrived());
  CHECK(counted.error() == Errc::invalid_argument);
  CHECK(fixture.tickets() == 2);
}

TEST_CASE("count-down latch: a node that is no latch is refused") {
  Fixture fixture;
  fixture.world.ensemble.operate(request::Set{path, "a host"});
  CHECK(fixture.count_down(1) == Errc::malformed_data);
  const auto waited = run<>(fixture.world, [&](auto done) { fixture.latch->async_wait(done); });
  REQUIRE(waited.arrived());
  CHECK(waited.error() == Errc::malformed_data);
}

TEST_CASE("count-down latch: other nodes below a latch count for nothing") {
  Fixture fixture;
  for (const char* name : {"foreign", "1", "another"}) fixture.world.make(path + "/" + name);
  const auto missing =
      run<std::int32_t>(fixture.world, [&](auto done) { fixture.latch->async_count(done); });
  REQUIRE(missing.arrived());
  CHECK(missing.result() == 1);
  const auto opened = fixture.waiting();
  CHECK_FALSE(fixture.count_down(1));
  CHECK(fixture.world.ensemble.exists(path + "/" + ticket_name(2)));
  fixture.check_open(opened);
}

TEST_CASE("count-down latch: arrivals of one client at the same moment are all counted") {
  Fixture fixture;
  CountDownLatch many{*fixture.client, "/latches/many", 50};
  std::vector<Outcome<>> all(50);
  for (const Outcome<>& each : all) many.async_count_down(each.handler());
  for (const Outcome<>& each : all) fixture.check_open(each);
  CHECK(fixture.world.ensemble.children("/latches/many").size() == 50);
  const auto open = run<bool>(fixture.world, [&](auto done) { many.async_try_wait(done); });
  REQUIRE(open.arrived());
  CHECK(open.result());
}

TEST_CASE("count-down latch: an arrival that is not retried says that nobody knows its outcome") {
  Fixture fixture;
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::fail_after}}}));
  CHECK(fixture.count_down(1, {.retry = RetryPolicy::none()}) == ServerErrc::connection_loss);
  CHECK(fixture.tickets() == 3);
}

TEST_CASE("count-down latch: an arrival in doubt that is late says that nobody knows its outcome") {
  Fixture fixture;
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::fail_after}}});
  plan->replying = [&](std::size_t reply) {
    if (reply == 1) fixture.world.ensemble.cut_off("observed");
  };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK(fixture.count_down(1, {.deadline = brief_limit}) ==
        Errc::deadline_exceeded_outcome_unknown);
  fixture.world.ensemble.let_in("observed");
}

TEST_CASE("count-down latch: an arrival that may not read its ticket says that nobody knows") {
  Fixture fixture;
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::fail_after}}});
  plan->replying = [&](std::size_t reply) {
    if (reply == 1) fixture.world.ensemble.refuse(path + "/" + ticket_name(2));
  };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK(fixture.count_down(1) == ErrorCondition::outcome_unknown);
}

TEST_CASE("count-down latch: an arrival at a latch that it may not read creates none") {
  Fixture fixture;
  const auto plan = std::make_shared<FaultsAt>("observed");
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.world.ensemble.refuse(path);
  CHECK(fixture.count_down(1) == ServerErrc::no_auth);
  CHECK(plan->steps() == 1);
  fixture.world.ensemble.permit(path);
}

TEST_CASE("count-down latch: one that expects nobody is open") {
  Fixture fixture;
  CountDownLatch none{*fixture.client, "/latches/none", 0};
  fixture.check_open(run<>(fixture.world, [&](auto done) { none.async_wait(done); }));
  fixture.check_open(run<>(fixture.world, [&](auto done) { none.async_arrive_and_wait(done); }));
  const auto open = run<bool>(fixture.world, [&](auto done) { none.async_try_wait(done); });
  REQUIRE(open.arrived());
  CHECK(open.result());
  CHECK(fixture.world.ensemble.children("/latches/none").empty());
}

TEST_CASE("count-down latch: a reaped latch is created again by the next arrival") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.world.ensemble.remove_tree(path);
  CHECK_FALSE(fixture.count_down(2));
  CHECK(fixture.tickets() == 2);
  CHECK_FALSE(opened.arrived());
  CHECK_FALSE(fixture.count_down(1));
  fixture.check_open(opened);
}

TEST_CASE("count-down latch: an arrival in doubt at a latch that is removed arrives at the next") {
  Fixture fixture;
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::fail_before}}});
  plan->replying = [&](std::size_t reply) {
    if (reply == 1) fixture.world.ensemble.remove_tree(path);
  };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK_FALSE(fixture.count_down(1));
  CHECK(fixture.tickets() == 1);
}

TEST_CASE("count-down latch: removing it leaves nothing, and a second time does nothing") {
  Fixture fixture;
  for (int i = 0; i < 2; ++i) {
    fixture.check_open(run<>(fixture.world, [&](auto done) { fixture.latch->async_remove(done); }));
    CHECK_FALSE(fixture.world.ensemble.exists(path));
  }
}

TEST_CASE("count-down latch: a wait ends with its client, and outlives its object") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.latch.reset();
  fixture.client->close();
  REQUIRE(fixture.world.run_until_arrived(opened));
  CHECK(opened.error() == Errc::closed);
}

TEST_CASE("count-down latch: bad arguments are refused at once") {
  Fixture fixture;
  const Client& client = *fixture.client;
  for (const char* bad : {"", "latch", "/", "/a//b"}) {
    INFO(bad);
    CHECK_THROWS_AS((CountDownLatch{client, bad, 1}), Error);
  }
  CHECK_THROWS_AS((CountDownLatch{client, "/latch", -1}), Error);
  CHECK_THROWS_AS((CountDownLatch{client, "/latch", CountDownLatch::max() + 1}), Error);
  CHECK_THROWS_AS(fixture.latch->count_down(-1), Error);
  CHECK_THROWS_AS(fixture.latch->async_count_down(-1, [](error_code) {}), Error);
}

}  // namespace
}  // namespace custodian::tests::latch_test
