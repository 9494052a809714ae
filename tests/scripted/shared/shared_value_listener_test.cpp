// Listeners of a shared count: which values they get, how they go on after outages, and how they
// end.

#include <algorithm>
#include <boost/asio/io_context.hpp>

#include "custodian/shared/shared_count.hpp"
#include "scripted/shared/shared_value_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::shared_value_listener_test {

namespace asio = boost::asio;

namespace {

using Count = Versioned<std::int32_t>;

constexpr auto path = "/p/q/count";
constexpr std::int32_t seed = 3;

/// A world with a count and one listener.
struct Fixture {
  explicit Fixture(std::optional<asio::any_io_executor> callbacks = {}) {
    ClientOptions options = world.options("observed");
    options.callback_executor = std::move(callbacks);
    options.log = [this](LogLevel, std::string_view line) {
      if (line.find("cannot be followed") != std::string_view::npos) lines.emplace_back(line);
    };
    client = world.client(options);
    count.emplace(*client, path, seed);
  }
  ~Fixture() {
    subscription.reset();
    if (client) CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
    count.reset();
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void listen() {
    subscription = count->on_change([this](const Count& value) { heard.push_back(value.value); });
  }
  void write(std::int32_t value) { world.ensemble.operate(request::Set{path, bytes_of(value)}); }
  [[nodiscard]] bool hears(std::int32_t value) {
    return world.run_until([&] { return !heard.empty() && heard.back() == value; });
  }

  World world;
  std::vector<std::string> lines;
  std::unique_ptr<Client> client;
  std::optional<SharedCount> count;
  std::vector<std::int32_t> heard;
  Subscription subscription;
};

TEST_CASE("a listener goes on behind an outage and a lost session") {
  Fixture fixture;
  fixture.listen();
  REQUIRE(fixture.hears(seed));
  fixture.world.ensemble.stop();
  fixture.world.settle();
  fixture.write(10);
  fixture.world.ensemble.start();
  CHECK(fixture.hears(10));
  fixture.world.ensemble.expire(fixture.client->session().id);
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
  fixture.write(20);
  CHECK(fixture.hears(20));
  CHECK(fixture.heard == std::vector<std::int32_t>{seed, 10, 20});
}

TEST_CASE("to a listener a deleted node is the seed, written anew") {
  Fixture fixture;
  fixture.listen();
  REQUIRE(fixture.hears(seed));
  fixture.write(10);
  REQUIRE(fixture.hears(10));
  fixture.world.remove(path);
  CHECK(fixture.hears(seed));
}

TEST_CASE("a slow listener skips what was overwritten, and sees the newest value") {
  asio::io_context callbacks;
  Fixture fixture{callbacks.get_executor()};
  fixture.listen();
  const auto callbacks_run = [&] {
    callbacks.restart();
    callbacks.poll();
  };
  for (const std::int32_t value : {10, 20, 30}) {
    REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 1; }));
    fixture.world.settle();
    fixture.write(value);
  }
  REQUIRE(fixture.world.run_until([&] {
    const auto known = fixture.count->last_known();
    return known && known->value == 30;
  }));
  fixture.world.settle();
  CHECK(fixture.heard.empty());
  callbacks_run();
  CHECK(fixture.heard == std::vector<std::int32_t>{30});
  // No call begins after the subscription has ended.
  fixture.write(40);
  REQUIRE(fixture.world.run_until([&] { return fixture.count->last_known()->value == 40; }));
  fixture.world.settle();
  fixture.subscription.reset();
  callbacks_run();
  CHECK(fixture.heard == std::vector<std::int32_t>{30});
  fixture.count.reset();
  CHECK(fixture.world.run_until_idle(*fixture.client));
  CHECK(fixture.world.ensemble.watches() == 0);
  const std::weak_ptr<detail::ClientCore> core = fixture.client->core();
  fixture.client.reset();
  CHECK(fixture.world.run_until([&] {
    callbacks_run();
    return core.expired();
  }));
  fixture.client = fixture.world.client("another");
}

TEST_CASE("a listener may end its own subscription") {
  Fixture fixture;
  int calls = 0;
  fixture.subscription = fixture.count->on_change([&](const Count&) {
    ++calls;
    fixture.subscription.reset();
  });
  REQUIRE(fixture.world.run_until([&] { return calls == 1; }));
  REQUIRE(fixture.world.run_until([&] { return fixture.world.ensemble.watches() == 0; }));
  fixture.write(10);
  fixture.world.settle();
  CHECK(calls == 1);
}

TEST_CASE("several listeners of a count do not end each other") {
  Fixture fixture;
  fixture.listen();
  std::vector<std::int32_t> others;
  Subscription other =
      fixture.count->on_change([&](const Count& value) { others.push_back(value.value); });
  REQUIRE(fixture.hears(seed));
  REQUIRE(fixture.world.run_until([&] { return !others.empty(); }));
  other.reset();
  fixture.world.settle();
  fixture.write(10);
  CHECK(fixture.hears(10));
  CHECK(others == std::vector<std::int32_t>{seed});
}

TEST_CASE("a listener goes on when the servers permit again what they forbade, and the log tells") {
  Fixture fixture;
  fixture.world.ensemble.refuse(path);
  fixture.listen();
  REQUIRE(fixture.world.run_until([&] { return !fixture.lines.empty(); }));
  const std::size_t before = fixture.world.ensemble.history().size();
  // The read is repeated, but not logged again.
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.world.ensemble.history().size() >= before + 5; }));
  CHECK(fixture.lines.size() == 1);
  fixture.world.ensemble.permit(path);
  CHECK(fixture.hears(seed));
  fixture.world.ensemble.refuse(path);
  fixture.subscription.reset();
}

TEST_CASE("a listener waits for the next change of a node that holds no count") {
  Fixture fixture;
  fixture.listen();
  REQUIRE(fixture.hears(seed));
  const auto known = fixture.count->last_known();
  fixture.world.ensemble.operate(request::Set{path, "what?"});
  REQUIRE(fixture.world.run_until([&] { return fixture.lines.size() == 1; }));
  CHECK(fixture.world.ensemble.watches() == 1);
  CHECK(fixture.count->last_known() == known);
  const std::size_t asked = fixture.world.ensemble.history().size();
  fixture.write(10);
  CHECK(fixture.hears(10));
  CHECK(fixture.world.ensemble.history().size() == asked + 1);
  CHECK(fixture.heard == std::vector<std::int32_t>{seed, 10});
}

TEST_CASE("a subscription may outlive the client, and one of a closed client is never notified") {
  Fixture fixture;
  fixture.listen();
  REQUIRE(fixture.hears(seed));
  fixture.client->close();
  fixture.world.settle();
  fixture.write(10);
  int calls = 0;
  const Subscription late = fixture.count->on_change([&](const Count&) { ++calls; });
  fixture.world.settle();
  CHECK(calls == 0);
  CHECK(fixture.heard == std::vector<std::int32_t>{seed});
  CHECK(fixture.count->last_known()->value == seed);
  fixture.count.reset();
  CHECK(fixture.world.end(fixture.client));
  fixture.subscription.reset();
  fixture.client = fixture.world.client("another");
}

TEST_CASE("what was read or written is known without a request, to copies of the object, too") {
  Fixture fixture;
  SharedCount& count = *fixture.count;
  const SharedCount copy = count;
  CHECK_FALSE(count.last_known());
  const Count first =
      run<Count>(fixture.world, [&](auto done) { count.async_load(done); }).result();
  CHECK(count.last_known() == first);
  CHECK_FALSE(run<>(fixture.world, [&](auto done) { count.async_store(10, done); }).error());
  const Count stored = copy.last_known().value();
  CHECK(stored.value == 10);
  CHECK(stored == run<Count>(fixture.world, [&](auto done) { count.async_load(done); }).result());
  const auto exchanged = run<bool, Count>(
      fixture.world, [&](auto done) { count.async_compare_exchange(stored, 20, done); });
  CHECK(exchanged.result<1>());
  CHECK(count.last_known() == exchanged.result<2>());
  fixture.write(30);
  const std::size_t asked = fixture.world.ensemble.history().size();
  CHECK(count.last_known()->value == 20);
  CHECK(fixture.world.ensemble.history().size() == asked);
  static_cast<void>(
      run<Count>(fixture.world, [&](auto done) { count.async_wait(exchanged.result<2>(), done); }));
  CHECK(count.last_known()->value == 30);
}

TEST_CASE("a listener that is no function is refused") {
  Fixture fixture;
  CHECK_THROWS_AS(static_cast<void>(fixture.count->on_change(nullptr)), Error);
}

}  // namespace
}  // namespace custodian::tests::shared_value_listener_test
