// Watches of the fake ensemble whose events are lost with a connection.

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_watches_test {
namespace {

TEST_CASE("fake: an event that is lost comes again, though another of its transaction has come") {
  World world;
  world.make("/p");
  world.make("/p/c");
  auto client = world.client("observed");
  auto data = run<GetResult, Watch>(
      world, [&](auto done) { client->async_get_and_watch("/p/c", {}, done); });
  auto list = run<Children, Watch>(
      world, [&](auto done) { client->async_children_and_watch("/p", {}, done); });
  REQUIRE(data.arrived());
  REQUIRE(list.arrived());
  Outcome<WatchEventType> of_data;
  Outcome<WatchEventType> of_list;
  data.result<2>().async_wait(of_data.handler());
  list.result<2>().async_wait(of_list.handler());
  world.settle();
  world.remove("/p/c");
  REQUIRE(world.run_until_arrived(of_data));
  REQUIRE_FALSE(of_list.arrived());
  world.ensemble.cut_off("observed");
  world.ensemble.let_in("observed");
  REQUIRE(world.run_until_arrived(of_list));
  CHECK(of_list.result() == WatchEventType::children_changed);
  data.result<2>() = Watch{};
  list.result<2>() = Watch{};
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::fake_watches_test
