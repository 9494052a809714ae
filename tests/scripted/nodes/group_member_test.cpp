// Members of a group that come, go, lose their sessions, and have the same id.

#include "custodian/nodes/group_member.hpp"

#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::group_member_test {
namespace {

using Members = Group::Members;

struct Party {
  EndingWorld world;
  std::unique_ptr<Client> one = world.client("one");
  std::unique_ptr<Client> two = world.client("two");

  bool until_members(const Group& group, const Members& wanted) {
    return world.run_until([&] { return group.members() == wanted; });
  }
};

TEST_CASE("group: members see each other come, change and go", "[nodes]") {
  Party party;
  const Group looks{*party.two, "/g"};
  std::vector<GroupChange> changes;
  const Subscription listening =
      looks.on_change([&](const GroupChange& change) { changes.push_back(change); });
  GroupMember a{*party.one, "/g", "a", "1"};
  std::optional<GroupMember> b{std::in_place, *party.two, "/g", "b", "2"};
  CHECK(party.until_members(looks, {{"a", "1"}, {"b", "2"}}));
  CHECK(party.until_members(a, {{"a", "1"}, {"b", "2"}}));
  const auto written =
      run<>(party.world, [&](auto done) { a.async_set_payload("3", OperationOptions{}, done); });
  REQUIRE(written.arrived());
  CHECK_FALSE(written.error());
  CHECK(a.members().at("a") == "3");
  CHECK(party.until_members(looks, {{"a", "3"}, {"b", "2"}}));
  b.reset();
  CHECK(party.until_members(looks, {{"a", "3"}}));
  REQUIRE(party.world.run_until([&] { return changes.size() == 4; }));
  CHECK(changes[2].kind == GroupChangeKind::changed);
  CHECK(changes[2].member == GroupEntry{"a", "3"});
  CHECK(changes[3].kind == GroupChangeKind::left);
  CHECK(changes[3].member == GroupEntry{"b", "2"});
}

TEST_CASE("group: a member whose session is lost is a member again", "[nodes]") {
  Party party;
  GroupMember a{*party.one, "/g", "a", "1"};
  const Group looks{*party.two, "/g"};
  REQUIRE(party.until_members(looks, {{"a", "1"}}));
  party.world.ensemble.expire(party.one->session().id);
  CHECK(party.until_members(looks, {}));
  CHECK(party.until_members(looks, {{"a", "1"}}));
  CHECK(a.members() == Members{{"a", "1"}});
}

TEST_CASE("group: a member whose restarted process takes its place is never missing", "[nodes]") {
  Party party;
  // The earlier life of the member: it has ended, and its session has not timed out yet.
  const auto made = run<Created>(party.world, [&](auto done) {
    party.one->async_create(
        "/g/a", "1", {.mode = CreateMode::ephemeral, .parents = Parents::created_as_containers},
        done);
  });
  REQUIRE_FALSE(made.error());
  const Group looks{*party.two, "/g"};
  std::vector<GroupChange> changes;
  const Subscription listening =
      looks.on_change([&](const GroupChange& change) { changes.push_back(change); });
  REQUIRE(party.until_members(looks, {{"a", "1"}}));
  bool was_missing = false;
  GroupMember again{*party.two, "/g", "a", "2", {.same_id = ForeignNode::is_taken_over}};
  CHECK(party.world.run_until([&] {
    const Members now = looks.members();
    was_missing = was_missing || !now.contains("a");
    return now == Members{{"a", "2"}};
  }));
  CHECK_FALSE(was_missing);
  REQUIRE(party.world.run_until([&] { return changes.size() == 2; }));
  CHECK(changes[1].kind == GroupChangeKind::changed);
  CHECK(changes[1].member == GroupEntry{"a", "2"});
}

TEST_CASE("group: a member is one of its own view from the start, until it leaves", "[nodes]") {
  Party party;
  GroupMember a{*party.one, "/g", "a", "1"};
  CHECK(a.members() == Members{{"a", "1"}});
  const auto joined =
      run<>(party.world, [&](auto done) { a.async_wait_joined(OperationOptions{}, done); });
  REQUIRE(joined.arrived());
  CHECK_FALSE(joined.error());
  const auto left =
      run<bool>(party.world, [&](auto done) { a.async_leave(Deadline::never(), done); });
  REQUIRE(left.arrived());
  CHECK(left.result());
  CHECK(party.until_members(a, {}));
}

TEST_CASE("group: a second member of an id waits until the first has left", "[nodes]") {
  Party party;
  std::optional<GroupMember> first{std::in_place, *party.one, "/g", "a", "1"};
  const Group looks{*party.two, "/g"};
  REQUIRE(party.until_members(looks, {{"a", "1"}}));
  GroupMember second{*party.two, "/g", "a", "2"};
  REQUIRE(party.world.run_until([&] { return second.node_state() == PersistentNodeState::taken; }));
  CHECK(looks.members() == Members{{"a", "1"}});
  first.reset();
  CHECK(party.until_members(looks, {{"a", "2"}}));
}

TEST_CASE("group: an id that is no node's name is refused", "[nodes]") {
  Party party;
  for (const char* id : {"", "a/b", ".", ".."}) {
    CHECK_THROWS_AS((GroupMember{*party.one, "/g", id}), Error);
  }
}

}  // namespace
}  // namespace custodian::tests::group_member_test
