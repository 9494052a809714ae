// The rules R4 to R6 of a mirror tree: the order of changes, nodes that may not be read, and the
// lists that are read.

#include "mirror/mirror_tree.hpp"
#include "unit/mirror/mirror_fixture.hpp"

namespace custodian::tests::mirror_rules_test {
namespace {

using Fixture = MirrorFixture;

TEST_CASE("R4: a missing root is an empty tree that is in sync, and is watched") {
  Fixture fixture{{}};
  CHECK(fixture.reads == 2);
  CHECK(fixture.player.tree.snapshot()->empty());
  fixture.player.server.create("/m");
  CHECK(fixture.settle() == Told{"added /m"});
  fixture.player.server.remove("/m");
  CHECK(fixture.settle() == Told{"removed /m"});
  fixture.player.server.create("/m");
  CHECK(fixture.settle() == Told{"added /m"});
}

TEST_CASE("R4: a tree is removed children first") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b", "/m/a/b/c", "/m/d"}};
  fixture.player.server.remove("/m");
  CHECK(fixture.settle() ==
        Told{"removed /m/a/b/c", "removed /m/a/b", "removed /m/a", "removed /m/d", "removed /m"});
}

TEST_CASE("R4: a tree that has gone with a session is removed children first") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b", "/m/c"}};
  fixture.player.lose_session();
  fixture.player.server.remove("/m");
  const Told told = fixture.resync();
  CHECK(told.size() == 5);
  CHECK(told.back() == "synced");
}

TEST_CASE("R5: a node that may not be read is kept without data, and read when it may be") {
  Fixture fixture{{"/m", "/m/a", "/m/b"}};
  auto& player = fixture.player;
  player.server.create("/m/c", "secret");
  player.server.create("/m/c/d");
  player.server.refused.insert("/m/c");
  CHECK(fixture.settle() == Told{"added /m/c"});
  CHECK(player.tree.take_refusals() == Told{"/m/c", "/m/c"});
  CHECK(player.tree.get("/m/c")->access == MirrorAccess::refused);
  CHECK(player.tree.get("/m/c")->data.empty());
  player.server.create("/m/e");  // the parent's next change
  CHECK(fixture.settle() == Told{"added /m/e"});
  CHECK(player.tree.take_refusals().empty());
  player.server.refused.clear();
  player.server.remove("/m/e");
  CHECK(fixture.settle() == Told{"removed /m/e", "changed /m/c", "added /m/c/d"});
  CHECK(player.tree.get("/m/c")->data == "secret");
}

TEST_CASE("R5: the children of a node that may not be listed any more are removed") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  fixture.player.server.refused.insert("/m/a");
  fixture.player.server.create("/m/a/c");
  CHECK(fixture.settle() == Told{"removed /m/a/b"});
  fixture.player.server.remove("/m/a");
  CHECK(fixture.settle() == Told{"removed /m/a"});
}

TEST_CASE("R5: a node that may be read now is read again though a read of it is under way") {
  Fixture fixture{{"/m", "/m/a"}};
  auto& player = fixture.player;
  player.may_repeat = true;
  player.server.refused.insert("/m/a");
  player.server.set("/m/a", "1");
  player.deliver();  // the event
  player.send_reads();
  player.serve();
  player.deliver();  // refused
  player.send_reads();
  REQUIRE(player.requests.size() == 1);  // for its existence
  player.server.refused.clear();
  player.server.create("/m/b");
  player.deliver();
  player.send_reads();
  REQUIRE(player.requests.size() == 2);
  player.serve(1);
  player.deliver();  // the list, which makes /m/a be read again
  player.send_reads();
  CHECK(player.requests.size() == 2);  // /m/b, but one read of /m/a at a time
  CHECK(fixture.settle().back() == "changed /m/a");
  CHECK(player.tree.get("/m/a")->data == "1");
}

TEST_CASE("R5: a refusal is reported once, also in later sessions") {
  Fixture fixture{{"/m", "/m/a"}};
  auto& player = fixture.player;
  player.may_repeat = true;
  player.server.refused.insert("/m/a");
  player.lose_session();
  CHECK(fixture.resync() == Told{"changed /m/a", "synced"});
  CHECK(player.tree.take_refusals().size() == 2);
  player.lose_session();
  CHECK(fixture.resync() == Told{"synced"});
  CHECK(player.tree.take_refusals().empty());
}

TEST_CASE("R5: a node whose write shows that it may be read is listed, too") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  auto& player = fixture.player;
  player.may_repeat = true;
  player.server.refused.insert("/m/a");
  player.server.set("/m/a", "1");
  player.server.create("/m/a/c");
  CHECK(fixture.settle() == Told{"removed /m/a/b", "changed /m/a"});
  player.server.refused.clear();
  player.server.set("/m/a", "2");
  CHECK(fixture.settle() == Told{"changed /m/a", "added /m/a/b", "added /m/a/c"});
}

TEST_CASE("R5: a refused root is read when it is asked for again") {
  Fixture fixture{{"/m", "/m/a"}};
  auto& player = fixture.player;
  CHECK_FALSE(player.tree.retry_root());
  player.may_repeat = true;
  player.server.refused.insert("/m");
  player.server.set("/m", "1");
  player.server.create("/m/b");
  CHECK(fixture.settle() == Told{"removed /m/a", "changed /m"});
  player.server.refused.clear();
  CHECK(player.tree.retry_root());
  CHECK(fixture.settle() == Told{"changed /m", "added /m/a", "added /m/b"});
  CHECK_FALSE(player.tree.retry_root());
}

TEST_CASE("R6: ephemeral nodes are not listed, containers and nodes with a TTL are") {
  MirrorPlayer player;
  player.server.create("/m");
  player.server.create("/m/ephemeral", "", 0x1000'0000'0000'0001);
  player.server.create("/m/container", "", std::numeric_limits<std::int64_t>::min());
  player.server.create("/m/ttl", "", static_cast<std::int64_t>(0xff00'0000'0000'03e8));
  player.connect();
  player.settle();
  CHECK(player.reads == 7);
  CHECK(player.difference() == "");
  for (const char* parent : {"/m/container", "/m/ttl"}) {
    player.server.create(parent + std::string{"/a"});
  }
  player.settle();
  CHECK(player.difference() == "");
}

TEST_CASE("R6: an ephemeral node in the place of another node is not listed any more") {
  Fixture fixture{{"/m", "/m/a"}};
  fixture.player.server.replace("/m/a", "", 7);
  CHECK(fixture.settle() == Told{"replaced /m/a"});
  CHECK(fixture.player.reads == 2);  // the parent's list, and the node
  CHECK_FALSE(fixture.player.server.armed.contains({"/m/a", WatchKind::children}));
}

TEST_CASE("R6: nodes at the end of the depth are not listed") {
  Fixture self{{"/m", "/m/a"}, {.depth = 0}};
  CHECK(self.reads == 1);
  CHECK(self.player.server.armed.size() == 1);
  Fixture children{{"/m", "/m/a", "/m/a/b"}, {.depth = 1}};
  CHECK(children.reads == 3);
  CHECK(children.player.tree.size() == 2);
}

}  // namespace
}  // namespace custodian::tests::mirror_rules_test
