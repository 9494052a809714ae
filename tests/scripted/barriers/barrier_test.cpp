// Waits at a barrier: the changes that they notice, and their requests.

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <future>
#include <optional>
#include <thread>

#include "custodian/barriers/distributed_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::barrier_test {
namespace {

using namespace std::chrono_literals;

constexpr auto path = "/barriers/one";

/// A world with a barrier that is set.
struct Fixture {
  Fixture() {
    world.make("/barriers");
    world.make(path);
    world.ensemble.clear_history();
  }
  ~Fixture() {
    world.run_until_idle(*client);
    CHECK(world.ensemble.watches() == 0);
    barrier.reset();
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] Outcome<> waiting() {
    Outcome<> opened;
    barrier->async_wait(opened.handler());
    CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
    world.settle();
    CHECK_FALSE(opened.arrived());
    return opened;
  }
  void set_anew() {
    world.remove(path);
    world.make(path);
  }
  void check_open(const Outcome<>& opened) {
    REQUIRE(world.run_until_arrived(opened));
    CHECK_FALSE(opened.error());
  }
  /// Runs until the client waits in its next session.
  void expire() {
    const std::int64_t first = client->session().id;
    world.ensemble.expire(first);
    REQUIRE(world.run_until([&] {
      const std::int64_t now = client->session().id;
      return now != first && now != 0 && world.ensemble.watches(now) == 1;
    }));
    world.settle();
  }

  World world{std::chrono::hours{1}};
  std::unique_ptr<Client> client = world.client("observed");
  std::optional<DistributedBarrier> barrier{std::in_place, *client, path};
};

TEST_CASE("barrier: a wait ends with the event of the removal, without another request") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  const std::size_t requests = fixture.world.ensemble.history().size();
  CHECK(requests == 2);
  fixture.world.remove(path);
  fixture.check_open(opened);
  CHECK(fixture.world.ensemble.history().size() == requests);
}

TEST_CASE("barrier: a barrier that is open for a moment lets those through who waited") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.set_anew();
  fixture.check_open(opened);
  // A later wait waits for the next removal.
  const auto next = fixture.waiting();
  fixture.world.remove(path);
  fixture.check_open(next);
}

TEST_CASE("barrier: a barrier that was open while a waiter was cut off lets it through") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.world.ensemble.cut_off("observed");
  fixture.world.settle();
  fixture.set_anew();
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  fixture.world.ensemble.let_in("observed");
  fixture.check_open(opened);
}

TEST_CASE("barrier: a barrier that was open while a waiter had no session lets it through") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.world.ensemble.cut_off("observed");
  fixture.world.settle();
  fixture.world.ensemble.expire(fixture.client->session().id);
  fixture.set_anew();
  fixture.world.ensemble.let_in("observed");
  fixture.check_open(opened);
}

TEST_CASE("barrier: a wait goes on in the next session if the barrier was not removed") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.expire();
  CHECK_FALSE(opened.arrived());
  fixture.world.ensemble.operate(request::Set{path, "other data"});
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.world.remove(path);
  fixture.check_open(opened);
}

TEST_CASE("barrier: a wait goes on in the next session, though a server lags behind there") {
  Fixture fixture;
  fixture.world.remove(path);
  fixture.world.settle();
  fixture.world.ensemble.leave_server_behind();
  fixture.world.make(path);
  const auto opened = fixture.waiting();
  // The session that follows begins at the server that has not seen the barrier.
  fixture.expire();
  CHECK_FALSE(opened.arrived());
  fixture.world.remove(path);
  fixture.check_open(opened);
}

TEST_CASE("barrier: a server that has missed the barrier lets no waiter through") {
  World world{std::chrono::hours{1}};
  world.make("/barriers");
  world.ensemble.leave_server_behind();
  world.make(path);
  auto client = world.client("late");
  std::optional<DistributedBarrier> barrier{std::in_place, *client, path};
  Outcome<> opened;
  barrier->async_wait(opened.handler());
  REQUIRE(world.run_until([&] { return opened.arrived() || world.ensemble.watches() > 0; }));
  world.settle();
  CHECK_FALSE(opened.arrived());
  world.remove(path);
  REQUIRE(world.run_until_arrived(opened));
  barrier.reset();
  CHECK(world.end(client));
}

TEST_CASE("barrier: a server that has missed the barrier does not say that it is not set") {
  World world{std::chrono::hours{1}};
  world.make("/barriers");
  world.ensemble.leave_server_behind();
  world.make(path);
  auto client = world.client("late");
  const auto seen = run<bool>(world, [&](auto done) {
    DistributedBarrier{*client, path}.async_is_set(done);
  });
  REQUIRE(seen.arrived());
  CHECK(seen.result());
  CHECK(world.end(client));
}

TEST_CASE("barrier: a server that has missed a removal and the next setting opens nothing") {
  // The first look would see the earlier barrier, and its removal would pass for one of this
  // wait's.
  Fixture fixture;
  const auto plan = std::make_shared<FaultsAt>(
      "observed",
      Faults{{0, {.kind = FaultKind::fail_before, .next_server = NextServer::lags_behind}}});
  Outcome<> opened;
  plan->replying = [&](std::size_t reply) {
    if (reply != 0) return;
    fixture.set_anew();
    fixture.barrier->async_wait(opened.handler());
  };
  fixture.world.ensemble.set_fault_plan(plan);
  Outcome<std::optional<Stat>> cut;
  fixture.client->async_exists("/barriers", {}, cut.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.world.settle();
  CHECK_FALSE(opened.arrived());
  fixture.world.remove(path);
  fixture.check_open(opened);
}

TEST_CASE("barrier: a look that is repeated in another session is not behind either") {
  World world{std::chrono::hours{1}};
  world.make("/barriers");
  auto client = world.client("observed");
  world.ensemble.leave_server_behind();
  world.make(path);
  // The session ends between the sync and the look, and the next one begins at that server.
  world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::expire_before}}}));
  std::optional<DistributedBarrier> barrier{std::in_place, *client, path};
  Outcome<> opened;
  barrier->async_wait(opened.handler());
  REQUIRE(world.run_until([&] { return opened.arrived() || world.ensemble.watches() > 0; }));
  world.settle();
  CHECK_FALSE(opened.arrived());
  world.remove(path);
  REQUIRE(world.run_until_arrived(opened));
  CHECK_FALSE(opened.error());
  barrier.reset();
  CHECK(world.end(client));
}

TEST_CASE("barrier: a wait with a limit says whether the barrier was removed in time") {
  Fixture fixture;
  const auto late = run<bool>(
      fixture.world, [&](auto done) { fixture.barrier->async_wait_for(brief_limit, done); });
  REQUIRE(late.arrived());
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  CHECK(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 0; }));

  Outcome<bool> opened;
  fixture.barrier->async_wait_for(World::limit, opened.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.world.remove(path);
  REQUIRE(fixture.world.run_until_arrived(opened));
  CHECK_FALSE(opened.error());
  CHECK(opened.result());
}

TEST_CASE("barrier: a wait without time asks once") {
  Fixture fixture;
  const auto ask = [&] {
    return run<bool>(fixture.world, [&](auto done) { fixture.barrier->async_wait_for(0s, done); });
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
  fixture.world.remove(path);
  const auto open = ask();
  REQUIRE(open.arrived());
  CHECK((!open.error() && open.result()));
}

TEST_CASE("barrier: a wait ends with its client") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.client->close();
  REQUIRE(fixture.world.run_until_arrived(opened));
  CHECK(opened.error() == Errc::closed);
  const auto after = run<>(fixture.world, [&](auto done) { fixture.barrier->async_wait(done); });
  REQUIRE(after.arrived());
  CHECK(after.error() == Errc::closed);
}

TEST_CASE("barrier: a wait outlives its barrier object") {
  Fixture fixture;
  const auto opened = fixture.waiting();
  fixture.barrier.reset();
  fixture.world.remove(path);
  fixture.check_open(opened);
}

TEST_CASE("barrier: a path that may not be read, or created, is told") {
  Fixture fixture;
  fixture.world.ensemble.refuse(path);
  const auto opened = run<>(fixture.world, [&](auto done) { fixture.barrier->async_wait(done); });
  REQUIRE(opened.arrived());
  CHECK(opened.error() == ServerErrc::no_auth);
  const auto set = run<>(fixture.world, [&](auto done) { fixture.barrier->async_set(done); });
  REQUIRE(set.arrived());
  CHECK(set.error() == ServerErrc::no_auth);
}

TEST_CASE("barrier: a barrier with nodes below it is not removed") {
  Fixture fixture;
  fixture.world.make(std::string{path} + "/child");
  const auto removed =
      run<>(fixture.world, [&](auto done) { fixture.barrier->async_remove(done); });
  REQUIRE(removed.arrived());
  CHECK(removed.error() == ServerErrc::not_empty);
}

TEST_CASE("barrier: waiters of one client all go through") {
  Fixture fixture;
  std::vector<Outcome<>> all(100);
  for (const Outcome<>& each : all) fixture.barrier->async_wait(each.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.history().size() == 200; }));
  fixture.world.settle();
  fixture.world.remove(path);
  for (const Outcome<>& each : all) fixture.check_open(each);
}

TEST_CASE("barrier: a context that is destroyed under a wait takes its handler along") {
  const LeaksAreExpected leaks;
  // The wait waits for a reply, or for the event.
  for (const bool is_answered : {false, true}) {
    World world;
    world.make("/barriers");
    world.make(path);
    auto context = std::make_unique<boost::asio::io_context>(1);
    auto client = std::make_unique<Client>(context->get_executor(), world.options("observed"));
    while (!is_connected(client->connection_state())) context->run_one_for(World::limit);
    if (!is_answered) {
      world.ensemble.set_fault_plan(
          std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
    }
    const auto owned = std::make_shared<int>();
    std::optional<DistributedBarrier> barrier{std::in_place, *client, path};
    barrier->async_wait([owned](error_code) {});
    barrier->async_wait_for(World::limit, [owned](error_code, bool) {});
    CHECK(owned.use_count() == 3);
    while (context->run_one_for(20ms) != 0) {
    }
    CHECK(world.ensemble.watches() == (is_answered ? 1 : 0));
    barrier.reset();
    client.reset();
    context.reset();
    CHECK(owned.use_count() == 1);
  }
}

TEST_CASE("barrier: a thread that waits for a barrier wakes when the context is destroyed") {
  const LeaksAreExpected leaks;
  World world;
  world.make("/barriers");
  world.make(path);
  auto context = std::make_unique<boost::asio::io_context>(1);
  auto client = std::make_unique<Client>(context->get_executor(), world.options("observed"));
  while (!is_connected(client->connection_state())) context->run_one_for(World::limit);
  std::promise<error_code> ended;
  auto over = ended.get_future();
  // Detached: the thread could not be joined if its wait never ended.
  std::thread{[barrier = DistributedBarrier{*client, path}, ended = std::move(ended)]() mutable {
    const LeaksAreExpected also;
    try {
      barrier.wait();
      ended.set_value({});
    } catch (const Error& error) {
      ended.set_value(error.code());
    }
  }}.detach();
  const Deadline patience{World::limit};
  while (world.ensemble.watches() == 0 && !patience.passed()) context->run_one_for(10ms);
  client.reset();
  context.reset();
  REQUIRE(over.wait_for(World::limit) == std::future_status::ready);
  CHECK(over.get() == Errc::closed);
}

TEST_CASE("barrier: bad paths are refused at once") {
  World world;
  auto client = world.client("observed");
  for (const char* bad : {"", "barrier", "/", "/a//b"}) {
    INFO(bad);
    CHECK_THROWS_AS((DistributedBarrier{*client, bad}), Error);
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::barrier_test
