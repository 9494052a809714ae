#include "mirror/mirror_tree.hpp"

#include "unit/mirror/mirror_fixture.hpp"

namespace custodian::tests::mirror_tree_test {
namespace {

using Fixture = MirrorFixture;

TEST_CASE("a mirror reads each node and its list once, and reports parents first") {
  MirrorPlayer player;
  for (const char* path : {"/m", "/m/b", "/m/a", "/m/b/c"}) player.server.create(path);
  player.connect();
  player.settle();
  CHECK(player.reads == 8);
  CHECK(player.told == Told{"added /m", "added /m/a", "added /m/b", "added /m/b/c", "synced"});
  CHECK(player.difference() == "");
}

TEST_CASE("R1: many events cost one read") {
  Fixture fixture{{"/m", "/m/a"}};
  fixture.player.server.set("/m/a", "1");
  fixture.player.deliver();
  for (int i = 2; i <= 100; ++i) fixture.player.server.set("/m/a", std::to_string(i));
  CHECK(fixture.settle() == Told{"changed /m/a"});
  CHECK(fixture.player.reads == 1);
}

TEST_CASE("R1: an event that comes while its node is read makes it be read again") {
  Fixture fixture{{"/m", "/m/a"}};
  auto& player = fixture.player;
  player.server.set("/m/a", "1");
  player.deliver();
  player.send_reads();
  player.serve();
  player.server.set("/m/a", "2");
  CHECK(fixture.settle() == Told{"changed /m/a", "changed /m/a"});
  CHECK(player.tree.get("/m/a")->data == "2");
}

TEST_CASE("R1: no more than 64 reads are under way") {
  MirrorPlayer player;
  player.server.create("/m");
  for (int i = 0; i < 200; ++i) player.server.create("/m/" + std::to_string(i));
  player.connect();
  std::size_t most = 0;
  for (;;) {
    player.send_reads();
    most = std::max(most, player.requests.size());
    if (player.requests.empty()) break;
    player.serve();
    player.deliver();
  }
  CHECK(most == 64);
  CHECK(player.difference() == "");
}

TEST_CASE("R2: a node that was created anew is another one, behind the end of its children") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  fixture.player.server.replace("/m/a");
  fixture.player.server.create("/m/a/b");
  CHECK(fixture.settle() == Told{"removed /m/a/b", "replaced /m/a", "added /m/a/b"});
}

TEST_CASE("R2: a node that was created anew during a disconnection is another one") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  fixture.player.server.replace("/m/a");
  fixture.player.server.create("/m/a/b");
  fixture.player.reconnect();
  CHECK(fixture.settle() == Told{"removed /m/a/b", "replaced /m/a", "added /m/a/b"});
}

TEST_CASE("R2: a node that was created anew with children that it had before is another one") {
  // Its list is read for the first node of the name, or for the second one.
  for (const bool list_first : {true, false}) {
    Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
    auto& player = fixture.player;
    player.lose_session();
    player.connect();
    for (int read = 0; read < 3; ++read) {  // /m, its list, /m/a
      player.send_reads();
      player.serve();
      player.deliver();
    }
    player.send_reads();
    if (list_first) player.serve();
    player.server.replace("/m/a");
    player.server.create("/m/a/b");
    Told told = fixture.settle();
    std::erase(told, "synced");
    CHECK(told == Told{"removed /m/a/b", "replaced /m/a", "added /m/a/b"});
  }
}

TEST_CASE("R2: replies that are earlier than others of the session are dropped") {
  recipes_detail::MirrorTree tree{"/m", {}};
  tree.connected();
  const auto stat = [](std::int64_t mzxid, std::int64_t pzxid) {
    return Stat{.czxid = 1, .mzxid = mzxid, .pzxid = pzxid};
  };
  const auto data = next(tree, "/m", MirrorRead::data);
  CHECK(tree.on_data(data, {"new", stat(5, 5)}));
  const auto list = next(tree, "/m", MirrorRead::children);
  CHECK(tree.on_children(list, {{"a", "b"}, stat(5, 5)}));
  static_cast<void>(tree.on_data(next(tree, "/m/a", MirrorRead::data), {}));
  static_cast<void>(tree.on_data(next(tree, "/m/b", MirrorRead::data), {}));
  tree.on_watch_ended(data, WatchEventType::data_changed);
  tree.on_watch_ended(list, WatchEventType::children_changed);
  static_cast<void>(tree.take_changes());
  static_cast<void>(next(tree, "/m/a", MirrorRead::children));
  static_cast<void>(next(tree, "/m/b", MirrorRead::children));
  CHECK(tree.on_data(next(tree, "/m", MirrorRead::data), {"old", stat(4, 4)}));
  CHECK(tree.on_children(next(tree, "/m", MirrorRead::children), {{"a"}, stat(4, 4)}));
  CHECK(tree.take_changes().empty());
  CHECK(tree.get("/m")->data == "new");
  CHECK(tree.get("/m/b"));
}

TEST_CASE("R2: the end of a watch on an earlier node does not remove the later one") {
  recipes_detail::MirrorTree tree{"/m", {.depth = 1}};
  tree.connected();
  CHECK(tree.on_data(next(tree, "/m", MirrorRead::data), {"", {.czxid = 1}}));
  CHECK(tree.on_children(next(tree, "/m", MirrorRead::children), {{"a"}, {.czxid = 1}}));
  const auto first = next(tree, "/m/a", MirrorRead::data);
  CHECK(tree.on_data(first, {"new", {.czxid = 5, .mzxid = 5}}));
  tree.on_watch_ended(first, WatchEventType::data_changed);
  const auto second = next(tree, "/m/a", MirrorRead::data);
  CHECK(tree.on_data(second, {"old", {.czxid = 3, .mzxid = 3}}));
  tree.on_watch_ended(second, WatchEventType::deleted);
  REQUIRE(tree.get("/m/a"));
  CHECK(tree.get("/m/a")->data == "new");
  CHECK(tree.will_read("/m/a", WatchKind::data));
}

TEST_CASE("R3: a connection that is lost costs no read") {
  Fixture fixture{{"/m", "/m/a", "/m/b"}};
  fixture.player.reconnect();
  CHECK(fixture.settle().empty());
  CHECK(fixture.player.reads == 0);
}

TEST_CASE("R3: what happened during a disconnection alone is read") {
  Fixture fixture{{"/m", "/m/a", "/m/b", "/m/c"}};
  fixture.player.server.set("/m/a", "1");
  fixture.player.server.remove("/m/b");
  fixture.player.reconnect();
  CHECK(fixture.settle() == Told{"removed /m/b", "changed /m/a"});
  CHECK(fixture.player.reads == 2);
}

TEST_CASE("R3: a watch that was given up with its connection makes its node be read again") {
  Fixture fixture{{"/m", "/m/a"}};
  fixture.player.reconnect(4);
  CHECK(fixture.settle().empty());
  CHECK(fixture.player.reads == 4);
}

TEST_CASE("R3: in a new session all is read, and nothing is reported again") {
  Fixture fixture{{"/m", "/m/a", "/m/b"}};
  fixture.player.lose_session();
  CHECK(fixture.player.tree.state() == MirrorState::resyncing);
  fixture.player.server.remove("/m/b");
  fixture.player.server.set("/m/a", "1");
  CHECK(fixture.resync() == Told{"removed /m/b", "changed /m/a", "synced"});
  CHECK(fixture.player.reads == 4);
}

TEST_CASE("R3: replies of an earlier session are void") {
  Fixture fixture{{"/m", "/m/a"}};
  auto& player = fixture.player;
  player.server.set("/m/a", "1");
  player.deliver();
  player.send_reads();
  player.serve();
  player.lose_session();
  player.server.set("/m/a", "2");
  player.connect();
  player.deliver();
  CHECK(player.told.empty());
  CHECK(fixture.settle() == Told{"changed /m/a", "synced"});
}

TEST_CASE("R3: events of an earlier session are void") {
  recipes_detail::MirrorTree tree{"/m", {.depth = 0}};
  tree.connected();
  const auto first = next(tree, "/m", MirrorRead::data);
  CHECK(tree.on_data(first, {"", {.czxid = 1}}));
  tree.session_lost();
  tree.connected();
  CHECK(tree.on_data(next(tree, "/m", MirrorRead::data), {"", {.czxid = 1}}));
  tree.on_watch_ended(first, WatchEventType::deleted);
  CHECK(tree.get("/m"));
  CHECK(tree.idle());
}

TEST_CASE("R3: servers that were restored from a backup are believed") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b", "/m/c"}};
  fixture.player.server.set("/m", "later");
  CHECK(fixture.settle() == Told{"changed /m"});
  fixture.player.lose_session();
  fixture.player.server = SimulatedServer{};
  fixture.player.server.create("/m", "earlier");  // the first transaction, as before
  fixture.player.server.create("/m/c");           // that of another node before
  CHECK(fixture.resync() ==
        Told{"changed /m", "removed /m/a/b", "removed /m/a", "replaced /m/c", "synced"});
}

TEST_CASE("a mirror that keeps no data reports writes, and asks for no data") {
  MirrorPlayer player{{.data = MirrorData::not_kept}};
  player.server.create("/m", "data");
  player.connect();
  player.settle();
  player.server.set("/m", "other");
  player.settle();
  CHECK(player.told == Told{"added /m", "synced", "changed /m"});
  CHECK(player.tree.get("/m")->data.empty());
  CHECK(player.difference() == "");
}

TEST_CASE("what is not accepted is not read, nor what is below it") {
  MirrorOptions options;
  options.accept = [](std::string_view path) { return path != "/m/b"; };
  Fixture fixture{{"/m", "/m/a", "/m/b", "/m/b/c"}, options};
  CHECK(fixture.reads == 4);
  fixture.player.server.create("/m/b/d");
  CHECK(fixture.settle().empty());
  CHECK(fixture.player.reads == 0);
}

TEST_CASE("a tree with too many nodes is not followed any more") {
  MirrorPlayer player{{.max_nodes = 3}};
  for (const char* path : {"/m", "/m/a", "/m/b"}) player.server.create(path);
  player.connect();
  player.settle();
  CHECK_FALSE(player.tree.overflowed());
  player.server.create("/m/c");
  while (!player.server.messages.empty() || !player.requests.empty()) {
    if (player.server.messages.empty()) player.serve();
    player.deliver();
    player.send_reads();
  }
  CHECK(player.tree.overflowed());
  CHECK(player.tree.size() == 3);
  CHECK_FALSE(player.tree.next_read());
}

TEST_CASE("a mirror is in sync when its first walk is over, though the tree goes on changing") {
  MirrorPlayer player;
  for (const char* path : {"/m", "/m/a"}) player.server.create(path);
  player.connect();
  for (int i = 0; player.tree.state() == MirrorState::loading; ++i) {
    REQUIRE(i < 100);
    player.server.create("/m/a/" + std::to_string(i));
    if (i > 4) player.server.set("/m/a", std::to_string(i));
    player.send_reads();
    while (!player.requests.empty()) player.serve();
    while (!player.server.messages.empty()) player.deliver();
  }
  CHECK_FALSE(player.tree.idle());
  player.settle();
  CHECK(player.difference() == "");
}

TEST_CASE("a change costs as many reads as it takes to see it") {
  Fixture fixture{{"/m", "/m/a", "/m/b"}};
  const auto cost = [&] {
    fixture.settle();
    return std::exchange(fixture.player.reads, 0);
  };
  fixture.player.server.set("/m/a", "1");
  CHECK(cost() == 1);
  fixture.player.server.remove("/m/b");
  CHECK(cost() == 1);
  fixture.player.server.create("/m/c", "", 7);
  CHECK(cost() == 2);
  fixture.player.server.create("/m/d");
  CHECK(cost() == 3);
}

TEST_CASE("a read that has failed is repeated") {
  Fixture fixture{{"/m"}};
  auto& tree = fixture.player.tree;
  fixture.player.server.set("/m", "1");
  fixture.player.deliver();
  tree.on_failed(next(tree, "/m", MirrorRead::data));
  CHECK(fixture.settle() == Told{"changed /m"});
}

TEST_CASE("a snapshot stays as it was, and is the same until something changes") {
  Fixture fixture{{"/m", "/m/a", "/m/a-b", "/m/a/c"}};
  const auto& tree = fixture.player.tree;
  const MirrorSnapshotPtr before = tree.snapshot();
  CHECK(tree.snapshot() == before);
  fixture.player.server.remove("/m/a");
  fixture.settle();
  const MirrorSnapshotPtr after = tree.snapshot();
  CHECK(after != before);
  CHECK(before->size() == 4);
  REQUIRE(before->get("/m/a/c"));
  CHECK_FALSE(after->get("/m/a/c"));
  CHECK_FALSE(after->get("/m/a"));
}

TEST_CASE("the children of a node are its own, by name") {
  Fixture fixture{{"/m", "/m/b", "/m/a", "/m/a/c", "/m/a-b", "/m/a/c/d"}};
  const auto paths = [](const std::vector<MirroredNodePtr>& nodes) {
    Told all;
    for (const auto& node : nodes) all.push_back(node->path);
    return all;
  };
  const MirrorSnapshotPtr snapshot = fixture.player.tree.snapshot();
  CHECK(paths(snapshot->children("/m")) == Told{"/m/a", "/m/a-b", "/m/b"});
  CHECK(paths(snapshot->children("/m/a")) == Told{"/m/a/c"});
  CHECK(snapshot->children("/m/b").empty());
  CHECK(snapshot->children("/elsewhere").empty());
  CHECK(paths(fixture.player.tree.children("/m")) == Told{"/m/a", "/m/a-b", "/m/b"});
  CHECK(fixture.player.tree.children("/elsewhere").empty());
  for (const char* path : {"", "/", "/n", "/mm", "/m/", "/m/a/", "/m/a/c/d/e", "m"}) {
    CHECK_FALSE(fixture.player.tree.get(path));
    CHECK_FALSE(snapshot->get(path));
  }
}

}  // namespace
}  // namespace custodian::tests::mirror_tree_test
