// A shared value over a fake ensemble: incidents of its node while somebody waits, and conditions
// that are no errors.

#include "custodian/shared/shared_value.hpp"

#include <boost/asio/co_spawn.hpp>

#include "custodian/authoring/spawn.hpp"
#include "custodian/shared/shared_count.hpp"
#include "scripted/shared/shared_value_play.hpp"
#include "shared/shared_node.hpp"
#include "support/catch.hpp"

namespace custodian::tests::shared_value_test {

namespace asio = boost::asio;

namespace {

using Count = Versioned<std::int32_t>;

constexpr auto path = "/p/q/count";
constexpr std::int32_t seed = 3;
constexpr std::int32_t desired = 7;
constexpr std::int32_t others = 9;

/// A world with a count that has been read.
struct Fixture {
  Fixture() {
    client = world.client("observed");
    count.emplace(*client, path, seed);
    known = run<Count>(world, [&](auto done) { count->async_load(done); }).result();
  }
  ~Fixture() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
    count.reset();
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Reply write(std::int32_t value) {
    return world.ensemble.operate(request::Set{path, bytes_of(value)});
  }
  [[nodiscard]] Outcome<Count> waiting() {
    Outcome<Count> newer;
    count->async_wait(known, newer.handler());
    CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
    CHECK_FALSE(newer.arrived());
    return newer;
  }

  World world;
  std::unique_ptr<Client> client;
  std::optional<SharedCount> count;
  Count known;
};

TEST_CASE("a wait sees what was written while its client was cut off") {
  Fixture fixture;
  const auto newer = fixture.waiting();
  fixture.world.ensemble.stop();
  fixture.world.settle();
  const Stat stat = fixture.write(others).stat;
  fixture.world.settle();
  CHECK_FALSE(newer.arrived());
  fixture.world.ensemble.start();
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK_FALSE(newer.error());
  CHECK(newer.result() == Count{others, stat.version, stat.mzxid});
}

TEST_CASE("a wait sees what was written while its session was lost, and waits on if nothing was") {
  Fixture fixture;
  const auto newer = fixture.waiting();
  const std::int64_t first = fixture.client->session().id;
  fixture.world.ensemble.expire(first);
  REQUIRE(fixture.world.run_until([&] {
    const std::int64_t now = fixture.client->session().id;
    return now != first && now != 0 && fixture.world.ensemble.watches(now) == 1;
  }));
  fixture.world.settle();
  CHECK_FALSE(newer.arrived());
  const std::int64_t second = fixture.client->session().id;
  fixture.world.ensemble.stop();
  fixture.world.settle();
  fixture.world.ensemble.expire(second);
  fixture.write(others);
  fixture.world.ensemble.start();
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK_FALSE(newer.error());
  CHECK(newer.result().value == others);
}

TEST_CASE("a wait notices a node that was deleted and made anew with the same version and value") {
  Fixture fixture;
  const auto newer = fixture.waiting();
  fixture.world.ensemble.stop();
  fixture.world.settle();
  fixture.world.remove(path);
  fixture.world.make(path, bytes_of(seed));
  fixture.world.ensemble.start();
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK_FALSE(newer.error());
  CHECK(newer.result().value == fixture.known.value);
  CHECK(newer.result().version == fixture.known.version);
  CHECK(newer.result().mzxid > fixture.known.mzxid);
}

TEST_CASE("a wait does not take an earlier write, of a server that is behind, for a new one") {
  Fixture fixture;
  Outcome<Count> newer;
  const auto plan = std::make_shared<FaultsAt>(
      "observed",
      Faults{{0, {.kind = FaultKind::fail_before, .next_server = NextServer::lags_behind}}});
  plan->replying = [&](std::size_t reply) {
    if (reply != 0) return;
    // The version comes from another client: neither the session nor its next server has seen it.
    const Stat stat = fixture.write(others).stat;
    fixture.count->async_wait(Count{others, stat.version, stat.mzxid}, newer.handler());
  };
  fixture.world.ensemble.set_fault_plan(plan);
  Outcome<std::optional<Stat>> cut;
  fixture.client->async_exists("/p", {}, cut.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.world.settle();
  CHECK_FALSE(newer.arrived());
  fixture.write(desired);
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK_FALSE(newer.error());
  CHECK(newer.result().value == desired);
}

TEST_CASE("to a wait a deleted node is the seed, written anew") {
  Fixture fixture;
  fixture.write(others);
  fixture.known =
      run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); }).result();
  const auto newer = fixture.waiting();
  fixture.world.remove(path);
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK_FALSE(newer.error());
  CHECK(newer.result().value == seed);
  CHECK(newer.result().version == 0);
}

TEST_CASE("a wait ends with its client") {
  Fixture fixture;
  const auto newer = fixture.waiting();
  fixture.client->close();
  REQUIRE(fixture.world.run_until_arrived(newer));
  CHECK(newer.error() == Errc::closed);
  const auto after = run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); });
  REQUIRE(after.arrived());
  CHECK(after.error() == Errc::closed);
}

TEST_CASE("a store whose reply is lost does not undo what somebody else writes then") {
  Fixture fixture;
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::fail_after}}});
  plan->replying = [&](std::size_t) { fixture.write(others); };
  fixture.world.ensemble.set_fault_plan(plan);
  const auto stored =
      run<>(fixture.world, [&](auto done) { fixture.count->async_store(desired, done); });
  REQUIRE(stored.arrived());
  CHECK(stored.error() == ServerErrc::connection_loss);
  fixture.world.ensemble.set_fault_plan(nullptr);
  const auto now = run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); });
  CHECK(now.result().value == others);
}

TEST_CASE("what was never read is never there, not even at version 0") {
  Fixture fixture;
  REQUIRE(fixture.known.version == 0);
  for (const std::int32_t version : {0, any_version}) {
    const Count invented{.value = seed, .version = version};
    const auto exchanged = run<bool, Count>(fixture.world, [&](auto done) {
      fixture.count->async_compare_exchange(invented, desired, done);
    });
    REQUIRE(exchanged.arrived());
    CHECK_FALSE(exchanged.error());
    CHECK_FALSE(exchanged.result<1>());
    CHECK(exchanged.result<2>() == fixture.known);
  }
}

TEST_CASE("a value whose version means any version is not exchanged until somebody writes it") {
  Fixture fixture;
  const auto exchange = [&] {
    const auto now = run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); });
    return run<bool, Count>(fixture.world, [&](auto done) {
      fixture.count->async_compare_exchange(now.result(), desired, done);
    });
  };
  fixture.world.ensemble.set_version(path, -1);
  CHECK(exchange().error() == Errc::sequence_exhausted);
  fixture.write(others);
  CHECK(exchange().result<1>());
}

TEST_CASE("a deadline covers all the requests of an operation") {
  Fixture fixture;
  fixture.world.ensemble.stop();
  fixture.world.settle();
  const OperationOptions hurried{.deadline = brief_limit};
  const auto late =
      run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(hurried, done); });
  REQUIRE(late.arrived());
  CHECK(late.error() == Errc::deadline_exceeded);
  fixture.world.ensemble.start();
  REQUIRE(
      fixture.world.run_until([&] { return is_connected(fixture.client->connection_state()); }));
  // The reply that does not arrive is that of the create, so the value is certainly not stored.
  fixture.world.remove(path);
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{1, {.kind = FaultKind::delay}}}));
  const OperationOptions soon{.deadline = std::chrono::milliseconds{50}};
  const auto stored =
      run<>(fixture.world, [&](auto done) { fixture.count->async_store(desired, soon, done); });
  REQUIRE(stored.arrived());
  CHECK(stored.error() == Errc::deadline_exceeded);
  CHECK(fixture.world.ensemble.operate(request::Get{path}).data != bytes_of(desired));
  fixture.world.ensemble.release_replies();
}

TEST_CASE("data that is no count is an error until it is mended by a store") {
  Fixture fixture;
  for (const std::string bad : {"", "abc", "12345"}) {
    const Stat stat = fixture.world.ensemble.operate(request::Set{path, bad}).stat;
    const auto read =
        run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); });
    CHECK(read.error() == Errc::malformed_data);
    CHECK(read.result() == Count{});
    const auto newer = run<Count>(
        fixture.world, [&](auto done) { fixture.count->async_wait(fixture.known, done); });
    REQUIRE(newer.arrived());
    CHECK(newer.error() == Errc::malformed_data);
    const Count stale{.value = 0, .version = stat.version - 1, .mzxid = 1};
    const auto exchanged = run<bool, Count>(fixture.world, [&](auto done) {
      fixture.count->async_compare_exchange(stale, desired, done);
    });
    CHECK(exchanged.error() == Errc::malformed_data);
    CHECK_FALSE(exchanged.result<1>());
    CHECK(fixture.world.ensemble.operate(request::Get{path}).data == bad);
  }
  CHECK_FALSE(
      run<>(fixture.world, [&](auto done) { fixture.count->async_store(desired, done); }).error());
  const auto mended =
      run<Count>(fixture.world, [&](auto done) { fixture.count->async_load(done); });
  CHECK(mended.result().value == desired);
}

TEST_CASE("what the servers forbid is an error of each operation") {
  Fixture fixture;
  fixture.world.ensemble.refuse(path);
  const auto check = [](const auto& outcome) {
    REQUIRE(outcome.arrived());
    CHECK(outcome.error() == ServerErrc::no_auth);
  };
  SharedCount& count = *fixture.count;
  check(run<Count>(fixture.world, [&](auto done) { count.async_load(done); }));
  check(run<>(fixture.world, [&](auto done) { count.async_store(desired, done); }));
  check(run<bool, Count>(fixture.world, [&](auto done) {
    count.async_compare_exchange(fixture.known, desired, done);
  }));
  check(run<Count>(fixture.world, [&](auto done) { count.async_wait(fixture.known, done); }));
}

TEST_CASE("a recipe reads a count with a watch, and outlives the object that it took it from") {
  Fixture fixture;
  const recipes_detail::SharedNodePtr node = fixture.count->state();
  fixture.count.reset();
  fixture.world.ensemble.remove_tree("/p");
  Outcome<Watched<Count>> read;
  const OperationOptions patient{Deadline::never(), RetryPolicy{}.unlimited()};
  const auto look = [&](Outcome<Watched<Count>>& outcome) {
    spawn(fixture.client->core(), "a test",
          recipes_detail::read_and_watch<std::int32_t>(node, nullptr, patient), outcome.handler());
  };
  look(read);
  REQUIRE(fixture.world.run_until_arrived(read));
  CHECK_FALSE(read.error());
  CHECK(read.result().value.value == seed);
  Outcome<WatchEventType> changed;
  read.result().watch.async_wait(changed.handler());
  fixture.world.ensemble.operate(request::Set{path, "what?"});
  REQUIRE(fixture.world.run_until_arrived(changed));
  CHECK(changed.result() == WatchEventType::data_changed);
  Outcome<Watched<Count>> bad;
  look(bad);
  REQUIRE(fixture.world.run_until_arrived(bad));
  CHECK(bad.error() == Errc::malformed_data);
  CHECK_FALSE(bad.result().watch);
  read = {};  // a watch keeps its client's internals alive
}

TEST_CASE("a shared value has any bytes, and none is a value, too") {
  World world;
  auto client = world.client("observed");
  {
    SharedValue value{*client, "/value"};
    const auto empty =
        run<Versioned<std::string>>(world, [&](auto done) { value.async_load(done); });
    CHECK_FALSE(empty.error());
    CHECK(empty.result().value.empty());
    const std::string odd{"\0\xff\n", 3};
    const auto exchanged = run<bool, Versioned<std::string>>(
        world, [&](auto done) { value.async_compare_exchange(empty.result(), odd, done); });
    CHECK(exchanged.result<1>());
    CHECK(exchanged.result<2>().value == odd);
    CHECK(exchanged.result<2>().version == 1);
    CHECK(world.ensemble.operate(request::Get{"/value"}).data == odd);
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::shared_value_test
