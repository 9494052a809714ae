// What a group shows of nodes that are no members, and of the member itself; and what is refused.

#include <algorithm>

#include "custodian/nodes/group_member.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::group_view_test {
namespace {

using Members = Group::Members;

const std::string uuid = "0123456789abcdef0123456789abcdef";

TEST_CASE("group view: a child that is no member is neither shown nor told", "[nodes]") {
  EndingWorld world;
  const auto client = world.client("one");
  world.make("/party");
  world.make("/party/lock-0000000000");
  world.make("/party/" + uuid + "-me");
  const Group party{*client, "/party", GroupNaming::kazoo_shallow};
  std::vector<GroupChange> changes;
  const Subscription listening =
      party.on_change([&](const GroupChange& change) { changes.push_back(change); });
  REQUIRE(world.run_until([&] { return party.state() == MirrorState::synced; }));
  CHECK(party.members() == Members{{"me", ""}});
  world.remove("/party/lock-0000000000");
  world.remove("/party/" + uuid + "-me");
  REQUIRE(world.run_until([&] { return changes.size() >= 2; }));
  world.settle();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].kind == GroupChangeKind::joined);
  CHECK(changes[1].kind == GroupChangeKind::left);
  CHECK(changes[1].member == GroupEntry{"me", ""});
}

TEST_CASE("group view: a listener that is none, and a path that is none, are refused", "[nodes]") {
  EndingWorld world;
  const auto client = world.client("one");
  const Group group{*client, "/g"};
  CHECK_THROWS_AS(group.on_change({}), Error);
  CHECK_THROWS_AS((Group{*client, "g"}), Error);
}

TEST_CASE("group view: a member that has left is not in its own view", "[nodes]") {
  EndingWorld world;
  const auto client = world.client("one");
  GroupMember a{*client, "/g", "a", "1"};
  CHECK(a.id() == "a");
  REQUIRE(world.run_until([&] { return a.node_state() == PersistentNodeState::present; }));
  CHECK(a.members() == Members{{"a", "1"}});
  const auto left =
      run<bool>(world, [&](auto done) { a.async_leave(Deadline::never(), std::move(done)); });
  REQUIRE(left.arrived());
  CHECK(left.result());
  CHECK(world.run_until([&] { return a.members().empty(); }));
}

TEST_CASE("group view: a numbered node has a name in front of its number", "[nodes]") {
  EndingWorld world;
  const auto client = world.client("one");
  const PersistentNodeOptions numbered{.mode = CreateMode::ephemeral_sequential};
  CHECK_THROWS_AS((PersistentNode{*client, "/a/", "", numbered}), Error);
}

}  // namespace
}  // namespace custodian::tests::group_view_test
