#include "custodian/nodes/group.hpp"

#include "support/catch.hpp"

namespace custodian::tests::group_test {
namespace {

using recipes_detail::group_change_of;
using recipes_detail::member_of;

const std::string uuid = "0123456789abcdef0123456789abcdef";

TEST_CASE("group: a member of Curator's is named by its id, and its data are its payload",
          "[group]") {
  CHECK(member_of("host-1", "10.0.0.1", GroupNaming::curator) == GroupEntry{"host-1", "10.0.0.1"});
}

TEST_CASE("group: members of kazoo's parties are recognised by their names", "[group]") {
  CHECK(member_of(uuid + "__party__", "me", GroupNaming::kazoo_party) == GroupEntry{"me", ""});
  CHECK_FALSE(member_of(uuid + "__lock__", "me", GroupNaming::kazoo_party));
  CHECK_FALSE(member_of("x" + uuid + "__party__", "me", GroupNaming::kazoo_party));
  CHECK(member_of(uuid + "-me", "", GroupNaming::kazoo_shallow) == GroupEntry{"me", ""});
  CHECK(member_of(uuid + "-", "", GroupNaming::kazoo_shallow) == GroupEntry{"", ""});
  CHECK_FALSE(member_of(uuid, "", GroupNaming::kazoo_shallow));
  CHECK_FALSE(member_of(uuid + "__party__", "", GroupNaming::kazoo_shallow));
}

MirroredNodePtr node(std::string path, std::string data) {
  return std::make_shared<const MirroredNode>(
      MirroredNode{.path = std::move(path), .data = std::move(data)});
}

TEST_CASE("group: a change of the mirror is one of the group if it is a member's", "[group]") {
  const auto change = [](MirrorChangeKind kind, MirroredNodePtr now, MirroredNodePtr before) {
    return group_change_of({kind, std::move(now), std::move(before)}, "/g", GroupNaming::curator);
  };
  const auto joined = change(MirrorChangeKind::added, node("/g/a", "1"), nullptr);
  REQUIRE(joined);
  CHECK(joined->kind == GroupChangeKind::joined);
  CHECK(joined->member == GroupEntry{"a", "1"});
  const auto changed = change(MirrorChangeKind::changed, node("/g/a", "2"), node("/g/a", "1"));
  REQUIRE(changed);
  CHECK(changed->kind == GroupChangeKind::changed);
  CHECK(changed->member.payload == "2");
  const auto left = change(MirrorChangeKind::removed, nullptr, node("/g/a", "2"));
  REQUIRE(left);
  CHECK(left->kind == GroupChangeKind::left);
  CHECK(left->member.payload == "2");
  CHECK_FALSE(change(MirrorChangeKind::synced, nullptr, nullptr));
  CHECK_FALSE(change(MirrorChangeKind::added, node("/g", ""), nullptr));
}

}  // namespace
}  // namespace custodian::tests::group_test
