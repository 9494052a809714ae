// A persistent node over an in-memory ensemble: its presence, its data, and its requests.

#include "scripted/nodes/node_keeping.hpp"

namespace custodian::tests::persistent_node_test {
namespace {

using State = PersistentNodeState;

constexpr auto path = NodeKeeping::path;

TEST_CASE("persistent node: it is there, with its data, until it is closed", "[nodes]") {
  NodeKeeping kept;
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
  NodeKeeping kept;
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
  NodeKeeping kept;
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

TEST_CASE("persistent node: what others write is undone, or accepted", "[nodes]") {
  NodeKeeping kept;
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
  NodeKeeping kept;
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

/// The first write is slow, and so is what follows.
class SlowWrite final : public testing::FaultPlan {
 public:
  explicit SlowWrite(std::function<void()> meanwhile) : meanwhile_{std::move(meanwhile)} {}
  testing::Fault on_submit(const testing::Submission& request) override {
    if (request.kind != "set" && meanwhile_) return {};
    if (const auto first = std::exchange(meanwhile_, nullptr)) first();
    return {.kind = testing::FaultKind::delay, .turns = 20};
  }

 private:
  std::function<void()> meanwhile_;
};

TEST_CASE("persistent node: data that are wanted while others are written are waited for",
          "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  REQUIRE(kept.world.run_until([&] { return kept.world.ensemble.watches() == 1; }));
  std::string then;
  const auto plan = std::make_shared<SlowWrite>(
      [&] { node.async_set_data("f", [&](error_code) { then = kept.look().data; }); });
  kept.world.ensemble.set_fault_plan(plan);
  const auto written = run<>(kept.world, [&](auto done) { node.async_set_data("e", done); });
  REQUIRE(written.arrived());
  CHECK_FALSE(written.error());
  REQUIRE(kept.world.run_until([&] { return !then.empty(); }));
  CHECK(then == "f");
}

TEST_CASE("persistent node: a sequential node is numbered once", "[nodes]") {
  NodeKeeping kept;
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

TEST_CASE(
    "persistent node: a second one of a client at a path is refused, or comes after the first",
    "[nodes]") {
  NodeKeeping kept;
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

TEST_CASE("persistent node: bad arguments are refused at once", "[nodes]") {
  NodeKeeping kept;
  CHECK_THROWS_AS((PersistentNode{*kept.client, "no slash"}), Error);
  CHECK_THROWS_AS((PersistentNode{*kept.client, "/"}), Error);
  CHECK_THROWS_AS((PersistentNode{*kept.client, path, std::string(2'000'000, 'x')}), Error);
  CHECK_THROWS_AS(kept.keep("d", {.ttl = std::chrono::milliseconds{5}}), Error);
  PersistentNode node = kept.keep();
  CHECK_THROWS_AS(node.async_set_data(std::string(2'000'000, 'x'), [](error_code) {}), Error);
}

}  // namespace
}  // namespace custodian::tests::persistent_node_test
