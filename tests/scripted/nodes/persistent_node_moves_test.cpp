// The servers' nodes of PersistentNode objects that are moved and assigned.

#include <utility>

#include "scripted/nodes/node_keeping.hpp"

namespace custodian::tests::persistent_node_moves_test {
namespace {

using State = PersistentNodeState;

constexpr auto path = NodeKeeping::path;
constexpr auto other = "/services/b";

TEST_CASE("persistent node: an assignment ends the node before, and keeps the other", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep("first");
  REQUIRE(kept.until(node, State::present));
  PersistentNode second{*kept.client, other, "second"};
  REQUIRE(kept.until(second, State::present));
  node = std::move(second);
  CHECK(kept.world.run_until([&] { return !kept.world.ensemble.exists(path); }));
  kept.world.settle();
  CHECK(node.path() == other);
  CHECK(node.state() == State::present);
  CHECK(kept.look(other).data == "second");
  // An object that was moved from has no node to end.
  second = kept.keep("third");
  CHECK(kept.until(second, State::present));
  CHECK(kept.look().data == "third");
}

TEST_CASE("persistent node: an assignment to itself ends nothing", "[nodes]") {
  NodeKeeping kept;
  PersistentNode node = kept.keep();
  REQUIRE(kept.until(node, State::present));
  PersistentNode& same = node;
  node = std::move(same);
  kept.world.settle();
  CHECK(node.state() == State::present);
  CHECK(kept.look().data == "d");
  CHECK(kept.close(node));
}

}  // namespace
}  // namespace custodian::tests::persistent_node_moves_test
