// What ends a persistent node, and what the servers refuse it.

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/nodes/node_keeping.hpp"

namespace custodian::tests::persistent_node_end_test {
namespace {

using State = PersistentNodeState;

constexpr auto path = NodeKeeping::path;

TEST_CASE("persistent node: the end does not delete what was written since it looked", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
  const auto plan = std::make_shared<FaultsAt>("keeper");
  plan->replying = [&](std::size_t reply) {
    if (reply != 0) return;
    kept.world.remove(path);
    kept.world.make(path, "theirs");
    kept.world.ensemble.operate(request::Set{path, "theirs, too"});
  };
  kept.world.ensemble.set_fault_plan(plan);
  CHECK(kept.close(node));
  CHECK(kept.look().data == "theirs, too");
}

TEST_CASE("persistent node: what the servers refuse is reported, and tried again", "[nodes]") {
  NodeKeeping kept;
  kept.world.make("/services");
  kept.world.ensemble.refuse(path);
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::refused));
  const auto late = run<>(kept.world, [&](auto done) {
    node.async_wait_present({.deadline = Deadline{brief_limit}}, done);
  });
  REQUIRE(late.arrived());
  CHECK(late.error() == ServerErrc::no_auth);
  kept.world.ensemble.permit(path);
  CHECK(kept.until(node, State::present));
}

TEST_CASE("persistent node: what is refused is tried again behind a pause, which a close ends",
          "[nodes]") {
  EndingWorld world;
  ClientOptions options = world.options("keeper");
  options.retry = RetryPolicy::exponential_backoff(std::chrono::hours{1}, std::chrono::hours{1}, 5);
  const auto client = world.client(std::move(options));
  world.make("/services");
  world.ensemble.refuse(path);
  PersistentNode node{*client, path};
  REQUIRE(world.run_until([&] { return node.state() == State::refused; }));
  world.ensemble.permit(path);
  world.ensemble.clear_history();
  world.settle();
  CHECK(world.ensemble.history().empty());
  const auto closed =
      run<bool>(world, [&](auto done) { node.async_close(Deadline::never(), done); });
  REQUIRE(closed.arrived());
  CHECK(closed.arrived());
}

TEST_CASE("persistent node: a parent that may not be made is waited for", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep("d", {.parents = Parents::must_exist});
  REQUIRE(kept.until(node, State::refused));
  kept.world.make("/services");
  CHECK(kept.until(node, State::present));
}

TEST_CASE("persistent node: one that has children stays, and the close says so", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep("d", {.mode = CreateMode::persistent});
  REQUIRE(kept.until(node, State::present));
  kept.world.make(std::string{path} + "/child");
  const auto closed =
      run<bool>(kept.world, [&](auto done) { node.async_close(Deadline::never(), done); });
  REQUIRE(closed.arrived());
  CHECK(closed.error() == ServerErrc::not_empty);
  CHECK(kept.look().data == "d");
}

TEST_CASE("persistent node: one with a TTL writes a child twice in that time, and not itself",
          "[nodes]") {
  NodeKeeping kept;
  PersistentTtlNode node{*kept.client, path, std::chrono::milliseconds{10}, "d"};
  const std::string touch = std::string{path} + "/touch";
  REQUIRE(kept.world.run_until([&] { return kept.look(touch).stat.version >= 3; }));
  CHECK(kept.look().stat.version == 0);
  SECTION("the close deletes both") {
    CHECK(kept.close(node));
    CHECK(kept.world.ensemble.children("/services").empty());
    CHECK(kept.world.run_until_idle(*kept.client));
  }
  SECTION("the child comes back with the node") {
    kept.world.ensemble.remove_tree(path);
    CHECK(kept.world.run_until([&] { return kept.world.ensemble.exists(touch); }));
    CHECK(kept.look().data == "d");
  }
}

TEST_CASE("persistent node: one with a TTL that gives up ends", "[nodes]") {
  NodeKeeping kept;
  kept.world.make("/services");
  kept.world.make(path, "theirs");
  PersistentTtlNode node{
      *kept.client,
      path,
      std::chrono::hours{1},
      "d",
      {.mode = CreateMode::persistent_with_ttl, .foreign_node = ForeignNode::fails}};
  CHECK(kept.until(node, State::closed));
  CHECK(kept.look().data == "theirs");
}

TEST_CASE("persistent node: the end of the client ends it, and who waits for it", "[nodes]") {
  NodeKeeping kept;
  kept.world.make("/services");
  kept.world.make(path, "theirs");
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::taken));
  Outcome<> present;
  node.async_wait_present({.deadline = Deadline::never()}, present.handler());
  Outcome<> written;
  node.async_set_data("e", {.deadline = Deadline::never()}, written.handler());
  kept.client.reset();
  REQUIRE(kept.world.run_until_arrived(present));
  CHECK(present.error() == Errc::closed);
  REQUIRE(kept.world.run_until_arrived(written));
  CHECK(written.error() == Errc::closed);
  CHECK(node.state() == State::closed);
  CHECK(kept.look().data == "theirs");
}

TEST_CASE("persistent node: it ends when its client begins to close, before the leases have",
          "[nodes]") {
  NodeKeeping kept;
  InterProcessMutex mutex{*kept.client, "/lock"};
  auto acquired = run<Lease>(kept.world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE(acquired.arrived());
  REQUIRE_FALSE(acquired.error());
  Lease held = std::move(acquired.result());
  kept.world.make("/services");
  kept.world.make(path, "theirs");
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::taken));
  Outcome<> present;
  node.async_wait_present({.deadline = Deadline::never()}, present.handler());
  Outcome<bool> closed;
  kept.client->async_close(Deadline::never(), closed.handler());
  kept.world.settle();
  REQUIRE(present.arrived());
  CHECK(present.error() == Errc::closed);
  CHECK_FALSE(closed.arrived());
  CHECK_THROWS_AS((PersistentNode{*kept.client, "/another"}), Error);
  held.release();
  REQUIRE(kept.world.run_until_arrived(closed));
}

}  // namespace
}  // namespace custodian::tests::persistent_node_end_test
