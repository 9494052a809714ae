// A persistent node over an in-memory ensemble: whose the node is, what its data are, and what is
// sent when.

#include <algorithm>

#include "custodian/nodes/persistent_ttl_node.hpp"
#include "scripted/barriers/given_up.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::persistent_node_test {
namespace {

using State = PersistentNodeState;

constexpr auto path = "/services/a";

struct Kept {
  explicit Kept(const std::string& name = "keeper") : client{world.client(name)} {}

  PersistentNode keep(std::string data = "d", PersistentNodeOptions options = {}) {
    return PersistentNode{*client, path, std::move(data), std::move(options)};
  }
  bool until(const PersistentNode& node, State state) {
    return world.run_until([&] { return node.state() == state; });
  }
  /// The node as the servers have it; the data are "-" if there is none.
  Reply look(const std::string& at = path) {
    Reply reply = world.ensemble.operate(request::Get{at});
    if (reply.error) reply.data = "-";
    return reply;
  }
  bool until_data(const std::string& data) {
    return world.run_until([&] { return look().data == data; });
  }
  bool close(PersistentNode& node) {
    const auto closed =
        run<bool>(world, [&](auto done) { node.async_close(Deadline::never(), done); });
    REQUIRE(closed.arrived());
    return closed.arrived() && !closed.error() && closed.result();
  }
  std::size_t writes() {
    return static_cast<std::size_t>(
        std::ranges::count_if(world.ensemble.history(), [](const Submission& each) {
          return each.kind == "create" || each.kind == "set" || each.kind == "remove" ||
                 each.kind == "multi";
        }));
  }
  std::int64_t session() { return client->session().id; }

  EndingWorld world;
  std::unique_ptr<Client> client;
};

TEST_CASE("persistent node: it is there, with its data, until it is closed", "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  CHECK(kept.look().data == "d");
  CHECK(kept.look().stat.ephemeral_owner == kept.session());
  CHECK(node.path() == path);
  CHECK(kept.close(node));
  CHECK(node.state() == State::closed);
  CHECK_FALSE(kept.world.ensemble.exists(path));
  CHECK(kept.world.run_until_idle(*kept.client));
}

TEST_CASE("persistent node: a deleted node is created again, with the newest data", "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  const auto written = run<>(kept.world, [&](auto done) { node.async_set_data("e", done); });
  REQUIRE(written.arrived());
  REQUIRE_FALSE(written.error());
  kept.world.remove(path);
  CHECK(kept.until_data("e"));
  CHECK(kept.until(node, State::present));
}

TEST_CASE("persistent node: a reconnection of the same session writes nothing", "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
  kept.world.ensemble.clear_history();
  for (int i = 0; i < 100; ++i) {
    kept.world.ensemble.disconnect(kept.session());
    REQUIRE(kept.world.run_until(
        [&] { return kept.client->connection_state() == ConnectionState::reconnected; }));
    kept.world.settle();
  }
  CHECK(kept.world.ensemble.history().empty());
  CHECK(node.state() == State::present);
  kept.world.remove(path);
  CHECK(kept.until_data("d"));
}

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
  Kept kept;
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
  Kept kept;
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
  Kept kept;
  kept.world.make("/services");
  kept.world.make(path, "old");
  kept.world.make(std::string{path} + "/child");
  PersistentNode node =
      kept.keep("d", {.mode = CreateMode::persistent, .foreign_node = ForeignNode::is_taken_over});
  CHECK(kept.until_data("d"));
  CHECK(kept.world.ensemble.exists(std::string{path} + "/child"));
}

TEST_CASE("persistent node: what others write is undone, or accepted", "[nodes]") {
  Kept kept;
  SECTION("undone") {
    PersistentNode node = kept.keep();
    REQUIRE(kept.until(node, State::present));
    REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
    kept.world.ensemble.operate(request::Set{path, "theirs"});
    CHECK(kept.until_data("d"));
  }
  SECTION("accepted until the next set_data()") {
    PersistentNode node = kept.keep("d", {.foreign_write = ForeignWrite::is_accepted});
    REQUIRE(kept.until(node, State::present));
    REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
    kept.world.ensemble.operate(request::Set{path, "theirs"});
    REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
    kept.world.settle();
    CHECK(kept.look().data == "theirs");
    const auto written = run<>(kept.world, [&](auto done) { node.async_set_data("e", done); });
    REQUIRE(written.arrived());
    CHECK_FALSE(written.error());
    CHECK(kept.look().data == "e");
  }
}

TEST_CASE("persistent node: of several data only the newest need be sent", "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  kept.world.ensemble.disconnect(kept.session());
  std::vector<Outcome<>> all(10);
  for (std::size_t i = 0; i < all.size(); ++i) {
    node.async_set_data("e" + std::to_string(i), all[i].handler());
  }
  kept.world.ensemble.clear_history();
  for (const Outcome<>& each : all) {
    REQUIRE(kept.world.run_until_arrived(each));
    CHECK_FALSE(each.error());
  }
  CHECK(kept.look().data == "e9");
  CHECK(kept.writes() <= 2);
}

TEST_CASE("persistent node: data that are wanted while others are written are waited for",
          "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
  // The first request is the look that the wish has asked for.
  const auto plan = std::make_shared<FaultsAt>(
      "keeper",
      std::vector<std::pair<std::size_t, Fault>>{{1, {.kind = FaultKind::delay, .turns = 20}}});
  std::string then;
  plan->submitted = [&](std::size_t step) {
    if (step != 1) return;
    node.async_set_data("f", [&](error_code) { then = kept.look().data; });
  };
  kept.world.ensemble.set_fault_plan(plan);
  const auto written = run<>(kept.world, [&](auto done) { node.async_set_data("e", done); });
  REQUIRE(written.arrived());
  CHECK_FALSE(written.error());
  REQUIRE(kept.world.run_until([&] { return !then.empty(); }));
  CHECK(then == "f");
}

TEST_CASE("persistent node: the end does not delete what was written since it looked", "[nodes]") {
  Kept kept;
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

TEST_CASE("persistent node: a sequential node is numbered once", "[nodes]") {
  Kept kept;
  PersistentNode node = kept.keep("d", {.mode = CreateMode::ephemeral_sequential});
  REQUIRE(kept.until(node, State::present));
  const std::string numbered = node.path();
  CHECK(numbered.find("/services/_c_") == 0);
  CHECK(numbered.find("-a0000000000") != std::string::npos);
  kept.world.remove(numbered);
  REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.exists(numbered); }));
  CHECK(kept.world.ensemble.children("/services").size() == 1);
  CHECK(node.path() == numbered);
}

TEST_CASE("persistent node: two with unique names have a node each", "[nodes]") {
  Kept kept;
  const PersistentNodeOptions unique{.protection = Protection::by_unique_name};
  PersistentNode one = kept.keep("1", unique);
  PersistentNode two = kept.keep("2", unique);
  CHECK(kept.until(one, State::present));
  CHECK(kept.until(two, State::present));
  CHECK(kept.world.ensemble.children("/services").size() == 2);
}

TEST_CASE(
    "persistent node: a second one of a client at a path is refused, or comes after the first",
    "[nodes]") {
  Kept kept;
  std::optional<PersistentNode> one{kept.keep("1")};
  CHECK_THROWS_AS(kept.keep("2"), Error);
  REQUIRE(kept.until(*one, State::present));
  kept.world.ensemble.clear_history();
  one.reset();
  PersistentNode two = kept.keep("2");
  CHECK(kept.until(two, State::present));
  kept.world.settle();
  CHECK(kept.look().data == "2");
  // The first one has ended before the second one asks for anything.
  CHECK(kept.writes() == 2);
}

TEST_CASE("persistent node: what the servers refuse is reported, and tried again", "[nodes]") {
  Kept kept;
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
  Kept kept;
  PersistentNode node = kept.keep("d", {.parents = Parents::must_exist});
  REQUIRE(kept.until(node, State::refused));
  kept.world.make("/services");
  CHECK(kept.until(node, State::present));
}

TEST_CASE("persistent node: one that has children stays, and the close says so", "[nodes]") {
  Kept kept;
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
  Kept kept;
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
  Kept kept;
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
  Kept kept;
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
  Kept kept;
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

TEST_CASE("persistent node: bad arguments are refused at once", "[nodes]") {
  Kept kept;
  CHECK_THROWS_AS((PersistentNode{*kept.client, "no slash"}), Error);
  CHECK_THROWS_AS((PersistentNode{*kept.client, "/"}), Error);
  CHECK_THROWS_AS((PersistentNode{*kept.client, path, std::string(2'000'000, 'x')}), Error);
  CHECK_THROWS_AS(kept.keep("d", {.ttl = std::chrono::milliseconds{5}}), Error);
  PersistentNode node = kept.keep();
  CHECK_THROWS_AS(node.async_set_data(std::string(2'000'000, 'x'), [](error_code) {}), Error);
}

}  // namespace
}  // namespace custodian::tests::persistent_node_test
