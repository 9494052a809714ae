// A watch: when it is empty, how many callers may wait for it, and which of its events counts.

#include "custodian/watch.hpp"

#include "client/client_watcher.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::watch_test {
namespace {

struct Fixture {
  ~Fixture() { CHECK(world.end(client)); }

  Watch watch(const std::string& path) {
    auto looked = run<std::optional<Stat>, Watch>(
        world, [&](auto done) { client->async_exists_and_watch(path, {}, done); });
    REQUIRE(looked.arrived());
    return std::move(looked.result<2>());
  }

  World world;
  std::unique_ptr<Client> client = world.client("mine");
};

/// What a wait for an empty watch throws, in both forms.
void check_that_nobody_can_wait(Watch& watch) {
  CHECK_FALSE(watch);
  const auto is_refused = Catch::Matchers::Predicate<Error>(
      [](const Error& error) {
        return error.code() == Errc::invalid_argument &&
               std::string{error.what()}.find("the watch is empty") != std::string::npos;
      },
      "says that the watch is empty");
  Outcome<WatchEventType> waited;
  CHECK_THROWS_MATCHES(watch.wait(), Error, is_refused);
  CHECK_THROWS_MATCHES(watch.async_wait(waited.handler()), Error, is_refused);
  CHECK_FALSE(waited.arrived());
}

TEST_CASE("nobody can wait for an empty watch, nor for one that was moved from") {
  Watch empty;
  check_that_nobody_can_wait(empty);
  Fixture fixture;
  Watch moved = fixture.watch("/new");
  Watch taken = std::move(moved);
  check_that_nobody_can_wait(moved);  // NOLINT(bugprone-use-after-move): that is the case
  Watch assigned;
  assigned = std::move(taken);
  check_that_nobody_can_wait(taken);  // NOLINT(bugprone-use-after-move): that is the case
  Outcome<WatchEventType> waited;
  assigned.async_wait(waited.handler());
  fixture.world.make("/new");
  REQUIRE(fixture.world.run_until_arrived(waited));
  CHECK(waited.result() == WatchEventType::created);
}

TEST_CASE("a recipe's wait for an empty watch fails") {
  Fixture fixture;
  Outcome<WatchEventType> waited;
  start_wait(fixture.client->core(), nullptr, Watch{}.state(), waited.handler());
  REQUIRE(fixture.world.run_until_arrived(waited));
  CHECK(waited.error() == Errc::invalid_argument);
}

TEST_CASE("a watch that is assigned ends the wait for the one before") {
  Fixture fixture;
  Watch watch = fixture.watch("/new");
  Outcome<WatchEventType> waited;
  watch.async_wait(waited.handler());
  watch = fixture.watch("/other");
  REQUIRE(fixture.world.run_until_arrived(waited));
  CHECK(waited.error() == boost::asio::error::operation_aborted);
  Outcome<WatchEventType> other;
  watch.async_wait(other.handler());
  fixture.world.make("/other");
  REQUIRE(fixture.world.run_until_arrived(other));
  CHECK_FALSE(other.error());
}

TEST_CASE("a watch has one wait at a time") {
  Fixture fixture;
  Watch watch = fixture.watch("/new");
  Outcome<WatchEventType> first;
  Outcome<WatchEventType> second;
  watch.async_wait(first.handler());
  watch.async_wait(second.handler());
  REQUIRE(fixture.world.run_until_arrived(second));
  CHECK(second.error() == Errc::invalid_argument);
  CHECK_FALSE(first.arrived());
  fixture.world.make("/new");
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK_FALSE(first.error());
  CHECK(first.result() == WatchEventType::created);
}

TEST_CASE("the first event of a watcher counts, and ends a wait that nobody can cancel") {
  Fixture fixture;
  const auto watcher = std::make_shared<detail::ClientWatcher>();
  Outcome<> waited;
  start_wait_any(fixture.client->core(), nullptr, {watcher}, waited.handler());
  fixture.world.settle();
  CHECK_FALSE(waited.arrived());
  watcher->on_event({}, WatchEventType::created);
  watcher->on_event({}, WatchEventType::deleted);
  REQUIRE(fixture.world.run_until_arrived(waited));
  CHECK_FALSE(waited.error());
  CHECK(watcher->event() == WatchEventType::created);
}

}  // namespace
}  // namespace custodian::tests::watch_test
