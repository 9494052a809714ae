// Persistent nodes whose requests are refused, each in its turn, for lack of permission. A recipe
// that keeps a node tries again until the servers permit it; only its close reports a refusal.

#include "custodian/nodes/group_member.hpp"
#include "custodian/nodes/persistent_ttl_node.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::node_refusals_test {
namespace {

using namespace std::chrono_literals;

constexpr LastingRefusal left_out = LastingRefusal::is_left_out;

void wait_and_close(OrderScene& scene, PersistentNode& node) {
  scene.run<>([&](auto done) { node.async_wait_present(done); });
  scene.run<bool>([&](auto done) { node.async_close({}, done); });
}

TEST_CASE("refusals: an ephemeral node that is kept and closed", "[refusals]") {
  play_every_refusal(
      "create get get! remove!",
      [](OrderScene& scene) {
        scene.begin();
        PersistentNode node{scene.client, "/node", "x"};
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: a kept node below parents that are not there", "[refusals]") {
  play_every_refusal(
      "create create create create create get get! remove!",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/a")) scene.world.ensemble.remove_tree("/a");
        scene.begin();
        PersistentNode node{scene.client, "/a/b/node", "x"};
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: a kept node that is closed by its destructor", "[refusals]") {
  play_every_refusal(
      "create get get remove",
      [](OrderScene& scene) {
        scene.begin();
        const PersistentNode node{scene.client, "/node", "x"};
        scene.run<>([&](auto done) { node.async_wait_present(done); });
      },
      left_out);
}

TEST_CASE("refusals: a kept node with a number and a unique name", "[refusals]") {
  play_every_refusal(
      "create get get! remove!",
      [](OrderScene& scene) {
        scene.world.make("/a");
        scene.begin();
        PersistentNode node{
            scene.client, "/a/node-", "x", {.mode = CreateMode::ephemeral_sequential}};
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: a kept node whose data change", "[refusals]") {
  play_every_refusal(
      "create get get set get get! remove!",
      [](OrderScene& scene) {
        scene.begin();
        PersistentNode node{scene.client, "/node", "x"};
        scene.run<>([&](auto done) { node.async_wait_present(done); });
        scene.run<>([&](auto done) { node.async_set_data("y", done); });
        scene.run<bool>([&](auto done) { node.async_close({}, done); });
      },
      left_out);
}

// The node stays if its delete is refused: the next client deletes it first.
TEST_CASE("refusals: a persistent node that is kept and closed", "[refusals]") {
  play_every_refusal(
      "create get get! remove!",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/node")) scene.world.remove("/node");
        scene.begin();
        PersistentNode node{scene.client, "/node", "x", {.mode = CreateMode::persistent}};
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: a node with a time to live, which is touched", "[refusals]") {
  play_every_refusal(
      "create get set create get! remove! remove!",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/node")) scene.world.ensemble.remove_tree("/node");
        scene.begin();
        PersistentTtlNode node{scene.client, "/node", 1h, "x"};
        scene.run<>([&](auto done) { node.async_wait_present(done); });
        if (!scene.wait_until([&] { return scene.world.ensemble.exists("/node/touch"); })) {
          scene.complain("the node is not touched");
        }
        scene.run<bool>([&](auto done) { node.async_close({}, done); });
      },
      left_out);
}

// -- Another's node -------------------------------------------------------------------------------

/// Another client, which has a node at this path.
std::unique_ptr<Client> other_with_node(OrderScene& scene, const std::string& path) {
  auto other = scene.world.client("other");
  const auto created = run<Created>(scene.world, [&](auto done) {
    other->async_create(path, "other", {.mode = CreateMode::ephemeral}, done);
  });
  if (created.error()) scene.complain("the other client cannot create its node");
  return other;
}

TEST_CASE("refusals: a kept node that waits for another's end", "[refusals]") {
  play_every_refusal(
      "create get get create get get! remove!",
      [](OrderScene& scene) {
        auto other = other_with_node(scene, "/node");
        scene.begin();
        PersistentNode node{scene.client, "/node", "x"};
        scene.wait_until([&] { return node.state() == PersistentNodeState::taken; });
        scene.world.end(other);
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: an ephemeral node that takes another's place", "[refusals]") {
  play_every_refusal(
      "create get multi get get! remove!",
      [](OrderScene& scene) {
        auto other = other_with_node(scene, "/node");
        scene.begin();
        PersistentNode node{
            scene.client, "/node", "x", {.foreign_node = ForeignNode::is_taken_over}};
        wait_and_close(scene, node);
        scene.world.end(other);
      },
      left_out);
}

TEST_CASE("refusals: a persistent node that changes hands", "[refusals]") {
  play_every_refusal(
      "create get get set get get! remove!",
      [](OrderScene& scene) {
        scene.world.make("/node", "other");
        scene.begin();
        PersistentNode node{
            scene.client,
            "/node",
            "x",
            {.mode = CreateMode::persistent, .foreign_node = ForeignNode::is_taken_over}};
        wait_and_close(scene, node);
      },
      left_out);
}

TEST_CASE("refusals: a kept node that gives up where another's is", "[refusals]") {
  play_every_refusal(
      "create get",
      [](OrderScene& scene) {
        auto other = other_with_node(scene, "/node");
        scene.begin();
        {
          const PersistentNode node{
              scene.client, "/node", "x", {.foreign_node = ForeignNode::fails}};
          Outcome<> outcome;
          node.async_wait_present(outcome.handler());
          if (!scene.wait_until([&] { return outcome.arrived(); })) {
            scene.complain("the node does not give up");
          } else if (outcome.error() != ServerErrc::node_exists) {
            scene.note(outcome.error());
          }
        }
        scene.world.end(other);
      },
      left_out);
}

// -- Groups ---------------------------------------------------------------------------------------

TEST_CASE("refusals: a member of a group joins, says more and leaves", "[refusals]") {
  play_every_refusal(
      "sync create get create exists create get get children get get set get get get! remove! "
      "children",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/group")) scene.world.ensemble.remove_tree("/group");
        scene.begin();
        GroupMember member{scene.client, "/group", "me", "x"};
        scene.run<>([&](auto done) { member.async_wait_joined({}, done); });
        scene.run<>([&](auto done) { member.async_wait_synced(done); });
        scene.run<>([&](auto done) { member.async_set_payload("y", {}, done); });
        // A member that may not be read for a moment is known without its payload.
        const auto knows_itself = [&] { return member.Group::members().contains("me"); };
        if (!scene.wait_until(knows_itself)) scene.complain("the member does not see itself");
        scene.run<bool>([&](auto done) { member.async_leave({}, done); });
      },
      left_out);
}

}  // namespace
}  // namespace custodian::tests::node_refusals_test
