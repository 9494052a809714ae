// Nodes of a snapshot whose paths are alike: each node has its own children only.

#include "custodian/mirror/mirror_snapshot.hpp"
#include "support/catch.hpp"
#include "unit/mirror/mirror_fixture.hpp"

namespace custodian::tests::snapshot_siblings_test {
namespace {

using Paths = std::vector<std::string>;

MirrorSnapshot snapshot_of(const Paths& paths) {
  MirrorSnapshot::Nodes nodes;
  for (const std::string& path : paths) {
    nodes.push_back(std::make_shared<const MirroredNode>(MirroredNode{.path = path}));
  }
  return MirrorSnapshot{std::move(nodes)};
}

Paths children_of(const MirrorSnapshot& snapshot, const std::string& path) {
  Paths children;
  for (const MirroredNodePtr& each : snapshot.children(path)) children.push_back(each->path);
  return children;
}

TEST_CASE("mirror snapshot: a sibling whose name begins with another's name is no child of it") {
  const MirrorSnapshot snapshot =
      snapshot_of({"/m", "/m/a", "/m/a/x", "/m/a/x/y", "/m/ab", "/m/abc/d", "/m/b", "/m/b/c"});
  CHECK(children_of(snapshot, "/m/a") == Paths{"/m/a/x"});
  CHECK(children_of(snapshot, "/m/ab").empty());
  CHECK(children_of(snapshot_of({"/m", "/m/a", "/m/bcd"}), "/m/a").empty());
}

TEST_CASE("mirror snapshot: a child of one node is no child of its sibling") {
  const MirrorSnapshot snapshot = snapshot_of({"/m", "/m/a", "/m/b", "/m/b/c"});
  CHECK(children_of(snapshot, "/m") == Paths{"/m/a", "/m/b"});
  CHECK(children_of(snapshot, "/m/b") == Paths{"/m/b/c"});
}

TEST_CASE("mirror snapshot: the root's children are those of a whole tree") {
  const MirrorSnapshot snapshot = snapshot_of({"/", "/a", "/a/b", "/c"});
  CHECK(children_of(snapshot, "/") == Paths{"/a", "/c"});
  CHECK(children_of(snapshot_of({"/"}), "/").empty());
}

/// Names a read of the root, or its watch, of a session that the tree does not have.
recipes_detail::MirrorReadId of_another_session(const recipes_detail::MirrorReadId& read) {
  recipes_detail::MirrorReadId other = read;
  other.session += 7;
  return other;
}

TEST_CASE("mirror tree: the replies and events of another session are of no account") {
  MirrorFixture fixture{{"/m"}};
  recipes_detail::MirrorTree& tree = fixture.player.tree;
  const recipes_detail::MirrorReadId other = of_another_session({});
  tree.on_refused(other);
  CHECK(tree.take_refusals().empty());
  CHECK_FALSE(tree.root_is_refused());
  tree.on_failed(other);
  CHECK_FALSE(tree.will_read("/m", WatchKind::data));
  tree.on_watch_ended(other, WatchEventType::data_changed);
  CHECK_FALSE(tree.will_read("/m", WatchKind::data));
  CHECK(fixture.settle().empty());
}

TEST_CASE("mirror tree: a watch on a node that is gone says nothing of the next one in its place") {
  MirrorFixture fixture{{"/m", "/m/a"}};
  recipes_detail::MirrorTree& tree = fixture.player.tree;
  const recipes_detail::MirrorReadId on_a{1, 0, 0, MirrorRead::data};
  fixture.player.server.remove("/m/a");
  CHECK(fixture.settle() == Told{"removed /m/a"});
  fixture.player.server.create("/m/b");
  CHECK(fixture.settle() == Told{"added /m/b"});
  tree.on_watch_ended(on_a, WatchEventType::data_changed);
  CHECK_FALSE(tree.will_read("/m/b", WatchKind::data));
  CHECK_FALSE(tree.will_read("/m/a", WatchKind::data));
  recipes_detail::MirrorReadId on_b = on_a;
  ++on_b.generation;
  tree.on_watch_ended(on_b, WatchEventType::data_changed);
  CHECK(tree.will_read("/m/b", WatchKind::data));
  CHECK(fixture.settle().empty());
}

}  // namespace
}  // namespace custodian::tests::snapshot_siblings_test
