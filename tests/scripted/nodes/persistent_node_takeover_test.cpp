// Persistent nodes at whose path there is a node of an earlier session, of another process, or of
// no session.

#include "scripted/barriers/given_up.hpp"
#include "scripted/nodes/node_keeping.hpp"

namespace custodian::tests::persistent_node_takeover_test {
namespace {

using State = PersistentNodeState;

constexpr auto path = NodeKeeping::path;

/// Notes whether the path was ever seen without a node.
struct Watcher {
  explicit Watcher(World& in) : world{in}, client{in.client("watcher")} { look(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    last = {};
    world.end(client);
  }
  void look() {
    client->async_exists_and_watch(
        path, {}, [this](error_code error, std::optional<Stat> stat, Watch watch) {
          if (error) return;
          if (!stat) ++gaps;
          if (stat && (owners.empty() || owners.back() != stat->ephemeral_owner)) {
            owners.push_back(stat->ephemeral_owner);
          }
          last = std::move(watch);
          last.async_wait([this](error_code ended, const auto&...) {
            if (!ended && client) look();
          });
        });
  }
  World& world;
  std::unique_ptr<Client> client;
  Watch last;
  int gaps = 0;
  std::vector<std::int64_t> owners;
};

TEST_CASE("persistent node: an earlier session's node is replaced, and nobody sees it missing",
          "[nodes]") {
  GivenUp one;
  std::optional<PersistentNode> node{std::in_place, *one.client, path, "d"};
  REQUIRE(one.world.run_until([&] { return node->state() == State::present; }));
  Watcher watcher{one.world};
  REQUIRE(one.world.run_until([&] { return watcher.owners.size() == 1; }));
  one.give_up();
  // The servers still have the node, but not this session's.
  CHECK(one.world.run_until([&] { return node->state() == State::absent; }));
  CHECK(one.world.ensemble.exists(path));
  one.world.ensemble.let_in("one");
  REQUIRE(one.world.run_until([&] { return watcher.owners.size() == 2; }));
  CHECK(watcher.owners.back() == one.client->session().id);
  CHECK(watcher.gaps == 0);
  CHECK(node->state() == State::present);
  node.reset();
  one.end();
}

TEST_CASE("persistent node: after a lost session the node is there again", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  std::vector<State> states;
  const Subscription listening =
      node.on_state([&](State state, error_code) { states.push_back(state); });
  const std::int64_t old = kept.session();
  kept.world.ensemble.expire(old);
  REQUIRE(kept.world.run_until(
      [&] { return kept.session() != old && node.state() == State::present; }));
  CHECK(kept.look().stat.ephemeral_owner == kept.session());
  kept.world.settle();
  CHECK(states == std::vector{State::absent, State::present});
}

TEST_CASE("persistent node: another's node is waited for, and never written or deleted",
          "[nodes]") {
  NodeKeeping kept;
  const auto other = kept.world.client("other");
  const auto made = run<Created>(kept.world, [&](auto done) {
    other->async_create(path, "theirs",
                        {.mode = CreateMode::ephemeral, .parents = Parents::created_as_containers},
                        done);
  });
  REQUIRE(made.arrived());
  REQUIRE_FALSE(made.error());
  SECTION("it waits until the node is gone") {
    PersistentNode node = kept.keep();
    REQUIRE(kept.until(node, State::taken));
    const auto late = run<>(kept.world, [&](auto done) {
      node.async_wait_present({.deadline = Deadline{brief_limit}}, done);
    });
    REQUIRE(late.arrived());
    CHECK(late.error() == ServerErrc::node_exists);
    CHECK(kept.look().data == "theirs");
    kept.world.remove(path);
    CHECK(kept.until(node, State::present));
    CHECK(kept.look().data == "d");
  }
  SECTION("it is closed while it waits") {
    PersistentNode node = kept.keep();
    REQUIRE(kept.until(node, State::taken));
    CHECK(kept.close(node));
    CHECK(kept.look().data == "theirs");
  }
  SECTION("it gives up") {
    PersistentNode node = kept.keep("d", {.foreign_node = ForeignNode::fails});
    const auto failed = run<>(kept.world, [&](auto done) { node.async_wait_present(done); });
    REQUIRE(failed.arrived());
    CHECK(failed.error() == ServerErrc::node_exists);
    CHECK(node.state() == State::closed);
    CHECK(kept.look().data == "theirs");
  }
  SECTION("it takes the path over, and nobody sees it empty") {
    Watcher watcher{kept.world};
    REQUIRE(kept.world.run_until([&] { return watcher.owners.size() == 1; }));
    PersistentNode node = kept.keep("d", {.foreign_node = ForeignNode::is_taken_over});
    REQUIRE(kept.until(node, State::present));
    CHECK(kept.look().data == "d");
    CHECK(kept.look().stat.ephemeral_owner == kept.session());
    REQUIRE(kept.world.run_until([&] { return watcher.owners.size() == 2; }));
    CHECK(watcher.gaps == 0);
  }
}

TEST_CASE("persistent node: two that take over from each other do so with pauses", "[nodes]") {
  EndingWorld world;
  const auto patient = [&](const std::string& name) {
    ClientOptions options = world.options(name);
    options.retry =
        RetryPolicy::exponential_backoff(std::chrono::hours{1}, std::chrono::hours{1}, 5);
    return world.client(std::move(options));
  };
  const auto one = patient("one");
  const auto two = patient("two");
  const PersistentNodeOptions takes_over{.foreign_node = ForeignNode::is_taken_over};
  const PersistentNode first{*one, path, "1", takes_over};
  REQUIRE(world.run_until([&] { return first.state() == State::present; }));
  const auto look = [&] { return world.ensemble.operate(request::Get{path}); };
  const std::int64_t czxid = look().stat.czxid;
  const PersistentNode second{*two, path, "2", takes_over};
  // Each has taken over once.
  REQUIRE(world.run_until([&] { return look().data == "1" && look().stat.czxid != czxid; }));
  world.ensemble.clear_history();
  world.settle();
  CHECK(world.ensemble.history().size() <= 2);
}

TEST_CASE("persistent node: a node that no session owns changes hands with its children",
          "[nodes]") {
  NodeKeeping kept;
  kept.world.make("/services");
  kept.world.make(path, "old");
  kept.world.make(std::string{path} + "/child");
  PersistentNode node =
      kept.keep("d", {.mode = CreateMode::persistent, .foreign_node = ForeignNode::is_taken_over});
  CHECK(kept.until_data("d"));
  CHECK(kept.world.ensemble.exists(std::string{path} + "/child"));
}

TEST_CASE("persistent node: a create that is sent in a later session is known again", "[nodes]") {
  GivenUp one;
  one.world.ensemble.set_fault_plan(std::make_shared<FaultsAt>(
      "one", std::vector<std::pair<std::size_t, Fault>>{{0, {.kind = FaultKind::expire_before}}}));
  std::optional<PersistentNode> node{std::in_place, *one.client, path, "d"};
  REQUIRE(one.world.run_until([&] { return node->state() == State::present; }));
  one.world.ensemble.set_fault_plan(nullptr);
  one.lease.release();
  auto acquired = run<Lease>(one.world, [&](auto done) { one.mutex->async_acquire(done); });
  REQUIRE(acquired.arrived());
  REQUIRE_FALSE(acquired.error());
  one.lease = std::move(acquired.result());
  one.give_up();
  one.world.ensemble.let_in("one");
  CHECK(one.world.run_until([&] {
    const Reply seen = one.world.ensemble.operate(request::Get{path});
    return seen.stat.ephemeral_owner == one.client->session().id;
  }));
  CHECK(one.world.run_until([&] { return node->state() == State::present; }));
  node.reset();
  one.end();
}

TEST_CASE("persistent node: two with unique names have a node each", "[nodes]") {
  NodeKeeping kept;
  const PersistentNodeOptions unique{.protection = Protection::by_unique_name};
  PersistentNode one = kept.keep("1", unique);
  PersistentNode two = kept.keep("2", unique);
  CHECK(kept.until(one, State::present));
  CHECK(kept.until(two, State::present));
  CHECK(kept.world.ensemble.children("/services").size() == 2);
}

}  // namespace
}  // namespace custodian::tests::persistent_node_takeover_test
