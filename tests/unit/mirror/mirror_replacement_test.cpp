// If a node may have been replaced by another node, it is in doubt until a read has decided: it is
// never reported as removed and then added. A plain deletion costs no additional read.

#include "mirror/mirror_tree.hpp"
#include "unit/mirror/mirror_fixture.hpp"

namespace custodian::tests::mirror_replacement_test {
namespace {

using Fixture = MirrorFixture;

TEST_CASE("R2: a node in whose place another one was put is never missing") {
  for (const std::int64_t owner : {0, 7}) {
    Fixture fixture{{"/m", "/m/a", "/m/b"}};
    auto& player = fixture.player;
    player.server.replace("/m/a", "anew", owner);
    while (!player.server.messages.empty() || player.tree.is_in_doubt("/m/a")) {
      REQUIRE(player.tree.get("/m/a"));
      REQUIRE_FALSE((player.server.messages.empty() && player.requests.empty()));
      if (player.server.messages.empty()) player.serve();
      player.deliver();
      player.send_reads();
    }
    CHECK(player.tree.get("/m/a")->data == "anew");
    CHECK(fixture.settle() == Told{"replaced /m/a"});
    CHECK(player.tree.get("/m/a")->data == "anew");
    CHECK(player.reads == (owner == 0 ? 3 : 2));
  }
}

TEST_CASE("R2: a root in whose place another one was put is never missing") {
  for (const MirrorData data : {MirrorData::kept, MirrorData::not_kept}) {
    Fixture fixture{{"/m"}, {.depth = 0, .data = data}};
    auto& player = fixture.player;
    player.server.replace("/m");
    CHECK(fixture.settle() == Told{"replaced /m"});
    player.server.remove("/m");
    CHECK(fixture.settle() == Told{"removed /m"});
    player.server.create("/m");
    CHECK(fixture.settle() == Told{"added /m"});
  }
}

TEST_CASE("R2: a node that goes, comes and goes again is gone, whenever the tree looks") {
  // The second deletion comes before each of the messages to the tree.
  for (int before = 0; before < 6; ++before) {
    Fixture fixture{{"/m", "/m/a"}};
    auto& player = fixture.player;
    player.server.replace("/m/a");
    for (int step = 0; step < before; ++step) {
      if (!player.server.messages.empty()) player.deliver();
      player.send_reads();
      if (!player.requests.empty()) player.serve();
    }
    player.server.remove("/m/a");
    const Told told = fixture.settle();
    REQUIRE_FALSE(told.empty());
    CHECK(told.back() == "removed /m/a");
  }
}

TEST_CASE("R2: a plain deletion costs the parent's list, and no more") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  fixture.player.server.remove("/m/a/b");
  fixture.player.deliver();
  CHECK(fixture.player.tree.is_in_doubt("/m/a/b"));
  CHECK(fixture.player.told.empty());
  CHECK(fixture.settle() == Told{"removed /m/a/b"});
  CHECK(fixture.player.reads == 1);
}

TEST_CASE("R2: a plain deletion costs no read of what is gone") {
  Fixture fixture{{"/m", "/m/a", "/m/a/b"}};
  fixture.player.server.remove("/m/a");
  while (!fixture.player.server.messages.empty()) fixture.player.deliver();
  CHECK(fixture.settle() == Told{"removed /m/a/b", "removed /m/a"});
  CHECK(fixture.player.reads == 1);
}

TEST_CASE("R2: a node in doubt whose session is lost is looked for in the next one") {
  Fixture fixture{{"/m", "/m/a", "/m/b"}};
  auto& player = fixture.player;
  player.server.replace("/m/a");
  player.server.remove("/m/b");
  player.deliver();
  player.lose_session();
  CHECK_FALSE(player.tree.is_in_doubt("/m/a"));
  CHECK(fixture.resync() == Told{"removed /m/b", "replaced /m/a", "synced"});
}

}  // namespace
}  // namespace custodian::tests::mirror_replacement_test
