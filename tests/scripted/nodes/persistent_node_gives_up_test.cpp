// Persistent nodes that give up where another's node is: what they delete, and what they report.

#include "scripted/nodes/node_keeping.hpp"

namespace custodian::tests::persistent_node_gives_up_test {
namespace {

constexpr auto path = "/a";

/// A client that keeps a node that gives up.
struct GivingUp {
  GivingUp() {
    plan->submitted = [this](std::size_t step) {
      if (on_request) on_request(step);
    };
  }

  PersistentNode keep() {
    world.ensemble.set_fault_plan(plan);
    world.ensemble.clear_history();
    return PersistentNode{*client,
                          path,
                          "mine",
                          {.mode = CreateMode::persistent, .foreign_node = ForeignNode::fails}};
  }
  /// Waits for the end of the node, and returns why it has ended.
  error_code end(const PersistentNode& node) {
    Outcome<> present;
    node.async_wait_present(present.handler());
    CHECK(world.run_until(
        [&] { return present.arrived() && node.state() == PersistentNodeState::closed; }));
    return present.error();
  }
  [[nodiscard]] std::string requests() const {
    std::string kinds;
    for (const Submission& each : world.ensemble.history()) kinds += each.kind + ' ';
    return kinds;
  }

  // Without the end of its lag a server stays behind.
  EndingWorld world{std::chrono::hours{1}};
  std::unique_ptr<Client> client = world.client("keeper");
  std::shared_ptr<FaultsAt> plan =
      std::make_shared<FaultsAt>("keeper", Faults{{0, {.kind = FaultKind::fail_before}}});
  std::function<void(std::size_t step)> on_request;
};

TEST_CASE("persistent node: one that gives up after a lost create looks for its node", "[nodes]") {
  GivingUp keeper;
  keeper.on_request = [&](std::size_t step) {
    if (step == 1) keeper.world.make(path, "another's");
    // A node that the client may not read is not its own; the report stays the same.
    if (step == 3) keeper.world.ensemble.refuse(path);
  };
  const PersistentNode node = keeper.keep();
  CHECK(keeper.end(node) == ServerErrc::node_exists);
  CHECK(keeper.requests() == "create get sync get ");
}

TEST_CASE("persistent node: one that is misled by a server that lags behind deletes its node",
          "[nodes]") {
  GivingUp keeper;
  keeper.plan = std::make_shared<FaultsAt>("keeper");
  keeper.world.make(path, "another's");
  keeper.world.ensemble.leave_server_behind();
  keeper.world.remove(path);
  const PersistentNode node = keeper.keep();
  REQUIRE(keeper.world.run_until([&] { return node.state() == PersistentNodeState::present; }));
  keeper.world.ensemble.expire(keeper.client->session().id);
  CHECK(keeper.world.run_until([&] { return node.state() == PersistentNodeState::closed; }));
  CHECK(keeper.end(node) == ServerErrc::node_exists);
  CHECK_FALSE(keeper.world.ensemble.exists(path));
}

}  // namespace
}  // namespace custodian::tests::persistent_node_gives_up_test
