// Operations of a client with a fault at each request that they send, and how they end.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::client_faults_test {

namespace asio = boost::asio;

namespace {

bool may_be_applied(const Fault& fault) {
  return fault.kind == FaultKind::fail_after || fault.kind == FaultKind::expire_after;
}

/// Returns whether the caller cannot know the outcome of a request with this fault.
bool hides_the_outcome(const Fault& fault) {
  return may_be_applied(fault) || fault.kind == FaultKind::fail_before ||
         fault.kind == FaultKind::expire_before;
}

struct Fixture {
  explicit Fixture(const Fault& fault) {
    client = world.client("observed");
    world.make("/node", "0");
    world.ensemble.clear_history();
    world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("observed", Faults{{0, fault}}));
  }
  ~Fixture() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] std::size_t sent(const std::string& kind) const {
    const auto history = world.ensemble.history();
    return static_cast<std::size_t>(
        std::ranges::count_if(history, [&](const Submission& each) { return each.kind == kind; }));
  }

  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("a read is repeated until it succeeds, whatever fails") {
  for (const Fault& fault : all_faults()) {
    INFO(describe(fault));
    Fixture fixture{fault};
    const auto got = run<GetResult>(
        fixture.world, [&](auto done) { fixture.client->async_get("/node", {}, done); });
    REQUIRE(got.arrived());
    CHECK_FALSE(got.error());
    CHECK(got.result().data == "0");
  }
}

TEST_CASE("a read with a watch is armed once, whatever fails") {
  for (const Fault& fault : all_faults()) {
    INFO(describe(fault));
    Fixture fixture{fault};
    auto got = run<GetResult, Watch>(
        fixture.world, [&](auto done) { fixture.client->async_get_and_watch("/node", {}, done); });
    REQUIRE(got.arrived());
    CHECK_FALSE(got.error());
    Outcome<WatchEventType> event;
    got.result<2>().async_wait(event.handler());
    fixture.world.ensemble.operate(request::Set{"/node", "1"});
    REQUIRE(fixture.world.run_until_arrived(event));
    CHECK_FALSE(event.error());
    CHECK(event.result() == WatchEventType::data_changed);
  }
}

/// Runs a write that must not be repeated blindly, and checks its outcome.
template <typename... Results, typename Start, typename Applied>
void check_write(const Fault& fault, const std::string& kind, Start start, Applied applied) {
  INFO(kind << ", " << describe(fault));
  Fixture fixture{fault};
  const auto wrote =
      run<Results...>(fixture.world, [&](auto done) { start(*fixture.client, done); });
  REQUIRE(wrote.arrived());
  if (hides_the_outcome(fault)) {
    CHECK(wrote.error() == ErrorCondition::outcome_unknown);
    CHECK(fixture.sent(kind) == 1);
    CHECK(applied(fixture.world) == may_be_applied(fault));
  } else {
    CHECK_FALSE(wrote.error());
    CHECK(applied(fixture.world));
  }
}

TEST_CASE("a write is sent once, and its outcome is unknown when its reply is lost") {
  for (const Fault& fault : all_faults()) {
    check_write<Stat>(
        fault, "set", [](Client& client, auto done) { client.async_set("/node", "1", {}, done); },
        [](World& world) { return world.ensemble.operate(request::Get{"/node"}).data == "1"; });
    check_write<>(
        fault, "remove", [](Client& client, auto done) { client.async_remove("/node", {}, done); },
        [](World& world) { return !world.ensemble.exists("/node"); });
    check_write<Created>(
        fault, "create",
        [](Client& client, auto done) { client.async_create("/new", "", {}, done); },
        [](World& world) { return world.ensemble.exists("/new"); });
    check_write<std::vector<TransactionResult>>(
        fault, "multi",
        [](Client& client, auto done) {
          client.async_commit({create("/new"), remove("/node")}, {}, done);
        },
        [](World& world) {
          return world.ensemble.exists("/new") && !world.ensemble.exists("/node");
        });
  }
}

TEST_CASE("without retries an operation fails at once when there is no connection") {
  World world;
  auto client = world.client("observed");
  world.ensemble.stop();
  world.settle();
  const OperationOptions once{.retry = RetryPolicy::none()};
  const auto got =
      run<GetResult>(world, [&](auto done) { client->async_get("/node", once, done); });
  REQUIRE(got.arrived());
  CHECK(got.error() == Errc::not_connected);

  const OperationOptions patient{.deadline = brief_limit};
  const auto late =
      run<GetResult>(world, [&](auto done) { client->async_get("/node", patient, done); });
  REQUIRE(late.arrived());
  CHECK(late.error() == Errc::deadline_exceeded);

  Outcome<Created> created;
  client->async_create("/node", "", {}, created.handler());
  world.settle();
  CHECK_FALSE(created.arrived());
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(created));
  CHECK_FALSE(created.error());
  CHECK(world.end(client));
}

TEST_CASE("a deadline that passes before the reply leaves the outcome unknown") {
  World world;
  auto client = world.client("observed");
  world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
  const CreateOptions hurried{.deadline = brief_limit};
  const auto created =
      run<Created>(world, [&](auto done) { client->async_create("/node", "", hurried, done); });
  REQUIRE(created.arrived());
  CHECK(created.error() == Errc::deadline_exceeded_outcome_unknown);
  CHECK(world.ensemble.exists("/node"));
  world.ensemble.release_replies();
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("a session that is renewed fails nothing that can wait") {
  World world;
  auto client = world.client("observed");
  world.make("/locks");
  const auto node = run<Created>(world, [&](auto done) {
    client->async_create("/locks/mine", "", {.mode = CreateMode::ephemeral}, done);
  });
  REQUIRE_FALSE(node.error());
  const std::int64_t first = client->session().id;
  // The delete is refused, so only the end of the session can remove this node.
  world.ensemble.refuse("/locks/mine");
  client->remove_in_background("/locks/mine");
  CHECK(world.run_until([&] { return !world.ensemble.exists("/locks/mine"); }));
  Outcome<GetResult> got;
  client->async_get("/locks", {}, got.handler());
  REQUIRE(world.run_until_arrived(got));
  CHECK_FALSE(got.error());
  CHECK(client->session().id != first);
  CHECK(world.end(client));
}

TEST_CASE("a watch outlives its connection, and tells what it missed") {
  World world;
  auto client = world.client("observed");
  world.make("/a", "0");
  world.make("/b", "0");
  auto a =
      run<GetResult, Watch>(world, [&](auto done) { client->async_get_and_watch("/a", {}, done); });
  auto b =
      run<GetResult, Watch>(world, [&](auto done) { client->async_get_and_watch("/b", {}, done); });
  auto list = run<Children, Watch>(
      world, [&](auto done) { client->async_children_and_watch("/", {}, done); });
  Outcome<WatchEventType> on_a;
  Outcome<WatchEventType> on_b;
  Outcome<WatchEventType> on_list;
  a.result<2>().async_wait(on_a.handler());
  b.result<2>().async_wait(on_b.handler());
  list.result<2>().async_wait(on_list.handler());
  world.ensemble.stop();
  world.settle();
  world.remove("/a");
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(on_a));
  CHECK(on_a.result() == WatchEventType::deleted);
  REQUIRE(world.run_until_arrived(on_list));
  CHECK(on_list.result() == WatchEventType::children_changed);
  CHECK_FALSE(on_b.arrived());
  world.ensemble.expire(client->session().id);
  REQUIRE(world.run_until_arrived(on_b));
  CHECK(on_b.error() == Errc::session_lost);
  a = {}, b = {}, list = {};  // a watch keeps its client's internals alive
  CHECK(world.end(client));
}

TEST_CASE("each state of the connection can be awaited") {
  World world;
  auto client = world.client("observed");
  Client handle = client->share();
  const auto next = [&](ConnectionState known) {
    Outcome<ConnectionState> changed;
    handle.async_wait_connection_state(known, changed.handler());
    return changed;
  };
  using enum ConnectionState;

  const auto at_once = next(suspended);
  REQUIRE(world.run_until_arrived(at_once));
  CHECK(at_once.result() == connected);

  const auto to_suspended = next(connected);
  world.settle();
  CHECK_FALSE(to_suspended.arrived());
  world.ensemble.stop();
  REQUIRE(world.run_until_arrived(to_suspended));
  CHECK(to_suspended.result() == suspended);

  const auto to_reconnected = next(suspended);
  const auto as_well = next(suspended);
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(to_reconnected));
  CHECK(to_reconnected.result() == reconnected);
  REQUIRE(world.run_until_arrived(as_well));
  CHECK(as_well.result() == reconnected);

  const std::int64_t session = client->session().id;
  world.ensemble.stop();
  REQUIRE(world.run_until([&] { return client->connection_state() == suspended; }));
  const auto to_lost = next(suspended);
  world.ensemble.expire(session);
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(to_lost));
  CHECK(to_lost.result() == lost);
  REQUIRE(world.run_until([&] { return client->connection_state() == connected; }));

  const auto to_closed = next(connected);
  client->close();
  REQUIRE(world.run_until_arrived(to_closed));
  CHECK(to_closed.result() == closed);
  const auto never = next(closed);
  REQUIRE(world.run_until_arrived(never));
  CHECK(never.error() == Errc::closed);
}

TEST_CASE("whoever waits for another state of the connection can give up") {
  World world;
  auto client = world.client("observed");
  asio::cancellation_signal signal;
  Outcome<ConnectionState> changed;
  client->async_wait_connection_state(
      ConnectionState::connected, asio::bind_cancellation_slot(signal.slot(), changed.handler()));
  world.settle();
  CHECK_FALSE(changed.arrived());
  signal.emit(asio::cancellation_type::total);
  REQUIRE(world.run_until_arrived(changed));
  CHECK(changed.error() == asio::error::operation_aborted);
  // A later change of state must not call the cancelled handler.
  world.ensemble.stop();
  CHECK(world.run_until([&] { return client->connection_state() == ConnectionState::suspended; }));
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::client_faults_test
