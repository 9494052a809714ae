// Guaranteed deletes: of released locks, and of nodes that a cancelled create has left.

#include <algorithm>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::guaranteed_deletes_test {
namespace {

struct Released {
  Released() {
    client = world.client("observed");
    const auto created = run<Created>(world, [&](auto done) {
      client->async_create("/mine", "", {.mode = CreateMode::ephemeral}, done);
    });
    REQUIRE_FALSE(created.error());
    session = client->session().id;
    world.ensemble.clear_history();
  }

  void fail_at(Faults faults) {
    world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("observed", std::move(faults)));
  }

  World world;
  std::unique_ptr<Client> client;
  std::int64_t session = 0;
};

TEST_CASE("a guaranteed delete is repeated until the node is gone, whatever fails") {
  for (const Fault& first : all_faults()) {
    for (const Fault& second : all_faults()) {
      INFO(describe(first) << "; " << describe(second));
      Released released;
      released.fail_at({{0, first}, {1, second}});
      released.client->remove_in_background("/mine");
      CHECK(released.world.run_until_idle(*released.client));
      CHECK_FALSE(released.world.ensemble.exists("/mine"));
      CHECK(released.world.end(released.client));
    }
  }
}

/// Counts the deletes that are under way at once.
class CountsDeletes final : public testing::FaultPlan {
 public:
  Fault on_submit(const Submission& submission) override {
    if (submission.kind == "remove") most = std::max(most, ++under_way);
    return {};
  }
  void before_reply(const Submission& submission, const Reply& /*reply*/) override {
    if (submission.kind == "remove") --under_way;
  }
  std::size_t under_way = 0;
  std::size_t most = 0;
};

TEST_CASE("after each reconnection a few deletes are under way at once, in their order") {
  World world;
  auto client = world.client("observed");
  constexpr std::size_t many = 200;
  for (int reconnections = 0; reconnections < 2; ++reconnections) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto created = run<Created>(world, [&](auto done) {
        client->async_create("/" + std::to_string(i), "", {.mode = CreateMode::ephemeral}, done);
      });
      REQUIRE_FALSE(created.error());
    }
    world.ensemble.stop();
    world.settle();
    for (std::size_t i = 0; i < many; ++i) client->remove_in_background("/" + std::to_string(i));
    world.settle();
    world.ensemble.clear_history();
    const auto counts = std::make_shared<CountsDeletes>();
    world.ensemble.set_fault_plan(counts);
    world.ensemble.start();
    CHECK(world.run_until([&] { return world.ensemble.children("/").size() <= 1; }));
    CHECK(world.run_until_idle(*client));
    CHECK(counts->most == 64);
    std::vector<std::string> paths;
    for (const Submission& each : world.ensemble.history()) {
      if (each.kind == "remove") paths.push_back(each.path);
    }
    REQUIRE(paths.size() == many);
    for (std::size_t i = 0; i < many; ++i) CHECK(paths[i] == "/" + std::to_string(i));
  }
  CHECK(world.end(client));
}

TEST_CASE("after a reconnection the deletes go first") {
  Released released;
  World& world = released.world;
  world.ensemble.stop();
  world.settle();
  Outcome<GetResult> read;
  Outcome<Created> created;
  released.client->async_get("/", {}, read.handler());
  released.client->async_create("/new", "", {}, created.handler());
  world.settle();
  released.client->remove_in_background("/mine");
  world.settle();
  CHECK(world.ensemble.history().empty());
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(created));
  CHECK(read.arrived());
  const auto history = world.ensemble.history();
  REQUIRE(history.size() == 3);
  CHECK(history[0].kind == "remove");
  CHECK(history[0].path == "/mine");
  CHECK(history[1].kind == "get");
  CHECK(history[2].kind == "create");
  CHECK(world.end(released.client));
}

TEST_CASE("a delete whose reply is lost goes first on the next connection") {
  Released released;
  World& world = released.world;
  released.fail_at({{0, {.kind = FaultKind::fail_before}}});
  released.client->remove_in_background("/mine");
  Outcome<GetResult> read;
  released.client->async_get("/", {}, read.handler());
  REQUIRE(world.run_until_arrived(read));
  const auto history = world.ensemble.history();
  REQUIRE(history.size() == 4);
  CHECK(history[2].kind == "remove");
  CHECK(history[3].kind == "get");
  CHECK_FALSE(world.ensemble.exists("/mine"));
  CHECK(world.end(released.client));
}

TEST_CASE("a delete that is forbidden ends the session, which frees the node") {
  Released released;
  World& world = released.world;
  std::vector<ConnectionState> states;
  const Subscription subscription =
      released.client->on_connection_state([&](ConnectionState state) { states.push_back(state); });
  world.ensemble.refuse("/mine");
  released.client->remove_in_background("/mine");
  CHECK(world.run_until([&] { return !world.ensemble.exists("/mine"); }));
  CHECK(world.run_until(
      [&] { return !states.empty() && states.back() == ConnectionState::connected; }));
  CHECK(states.front() == ConnectionState::lost);
  CHECK(released.client->session().id != released.session);
  CHECK(world.run_until_idle(*released.client));
  CHECK(world.end(released.client));
}

TEST_CASE("a session that ends takes its pending deletes along") {
  Released released;
  World& world = released.world;
  world.ensemble.stop();
  world.settle();
  released.client->remove_in_background("/mine");
  world.settle();
  world.ensemble.expire(released.session);
  world.ensemble.start();
  CHECK(world.run_until([&] {
    return released.client->session().id != released.session &&
           is_connected(released.client->connection_state());
  }));
  CHECK(world.run_until_idle(*released.client));
  CHECK(world.ensemble.history().empty());
  CHECK(world.end(released.client));
}

}  // namespace
}  // namespace custodian::tests::guaranteed_deletes_test
