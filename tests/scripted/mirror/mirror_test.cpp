// Mirrors over the fake ensemble: their requests and their reports.

#include "custodian/mirror/node_cache.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "scripted/mirror/mirror_scene.hpp"

namespace custodian::tests::mirror_test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE("mirror: it syncs, reads each node and its list once, and reports what is there") {
  MirrorScene scene;
  CHECK(scene.mirror->state() == MirrorState::loading);
  REQUIRE(scene.follows());
  Told kinds;
  for (const Submission& each : scene.world.ensemble.history()) kinds.push_back(each.kind);
  CHECK(kinds == Told{"sync", "get", "children", "get", "get", "children", "children"});
  CHECK(scene.replay.told == Told{"added /m", "added /m/a", "added /m/b", "synced"});
  CHECK(scene.world.ensemble.watches() == 6);
  REQUIRE(scene.mirror->get("/m/a"));
  CHECK(scene.mirror->get("/m/a")->data == "data of /m/a");
  CHECK(scene.mirror->children("/m").size() == 2);
}

TEST_CASE("mirror: it follows nodes that come, change and go") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  scene.replay.told.clear();
  scene.write("/m/a", "1");
  REQUIRE(scene.follows());
  scene.world.make("/m/c");
  REQUIRE(scene.follows());
  scene.world.make("/m/c/d");
  REQUIRE(scene.follows());
  scene.world.ensemble.remove_tree("/m/c");
  REQUIRE(scene.follows());
  CHECK(scene.replay.told ==
        Told{"changed /m/a", "added /m/c", "added /m/c/d", "removed /m/c/d", "removed /m/c"});
}

TEST_CASE("mirror: a node in whose place a transaction puts another one is never missing") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  scene.replay.told.clear();
  const std::size_t before = scene.requests();
  scene.world.ensemble.operate(
      request::Multi{{request::Remove{"/m/a"},
                      request::Create{.path = "/m/a", .data = "anew", .acl = open_acl()}}});
  const bool is_there = scene.world.run_until([&] {
    REQUIRE(scene.mirror->get("/m/a"));
    return scene.mirror->get("/m/a")->data == "anew";
  });
  CHECK(is_there);
  REQUIRE(scene.follows());
  CHECK(scene.replay.told == Told{"changed /m/a"});
  CHECK(scene.requests() == before + 3);  // the list, the node, and the list of its children
}

TEST_CASE("mirror: a missing path is an empty tree in sync, and is watched") {
  MirrorScene scene{{}, {}, {}};
  REQUIRE(scene.follows());
  CHECK(scene.replay.told == Told{"synced"});
  CHECK(scene.world.ensemble.watches() == 1);
  CHECK(scene.mirror->snapshot()->empty());
  scene.world.make("/m");
  REQUIRE(scene.follows());
  scene.world.remove("/m");
  REQUIRE(scene.follows());
  scene.world.make("/m");
  REQUIRE(scene.follows());
  CHECK(scene.mirror->get("/m"));
}

TEST_CASE("mirror: a disconnection costs no read, and is a state") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  scene.world.ensemble.stop();
  REQUIRE(scene.runs_until(MirrorState::suspended));
  const std::size_t before = scene.requests();
  scene.world.ensemble.start();
  REQUIRE(scene.runs_until(MirrorState::synced));
  scene.world.settle();
  CHECK(scene.requests() == before);
  scene.world.ensemble.stop();
  REQUIRE(scene.runs_until(MirrorState::suspended));
  scene.write("/m/a", "1");
  scene.world.remove("/m/b");
  scene.world.ensemble.start();
  REQUIRE(scene.follows());
  CHECK(scene.requests() == before + 2);
}

TEST_CASE("mirror: after a lost session everything is read again, and nothing is reported again") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  scene.replay.told.clear();
  scene.world.ensemble.clear_history();
  scene.world.ensemble.stop();
  scene.world.ensemble.expire(scene.client->session().id);
  scene.write("/m/a", "1");
  scene.world.ensemble.start();
  REQUIRE(scene.world.run_until([&] { return !scene.replay.told.empty(); }));
  REQUIRE(scene.follows());
  CHECK(scene.replay.told == Told{"changed /m/a", "synced"});
  CHECK(scene.world.ensemble.history().front().kind == "sync");
  CHECK(scene.requests() == 7);
}

TEST_CASE("mirror: a new session at a server that lags behind takes nothing back") {
  World slow{std::chrono::hours{1}};
  slow.make("/m");
  slow.ensemble.leave_server_behind();
  slow.make("/m/a");
  auto client = slow.client("mine");  // begins at the server that has missed /m/a
  std::optional<TreeCache> mirror{std::in_place, *client, "/m"};
  Replay replay;
  const Subscription subscription =
      mirror->on_change([&](const MirrorChange& change) { replay.apply(change); });
  REQUIRE(slow.run_until([&] { return mirror->state() == MirrorState::synced; }));
  CHECK(mirror->get("/m/a"));
  slow.ensemble.leave_server_behind();
  slow.make("/m/b");
  slow.ensemble.operate(request::Set{"/m/a", "1"});
  REQUIRE(slow.run_until([&] { return mirror->get("/m/b") && mirror->get("/m/a")->data == "1"; }));
  slow.settle();
  slow.ensemble.expire(client->session().id);
  REQUIRE(slow.run_until(
      [&] { return mirror->state() == MirrorState::resyncing || replay.told.back() == "synced"; }));
  REQUIRE(slow.run_until([&] { return mirror->state() == MirrorState::synced; }));
  slow.settle();
  CHECK(std::ranges::count_if(
            replay.told, [](const std::string& each) { return each.starts_with("removed"); }) == 0);
  mirror.reset();
  CHECK(slow.run_until_idle(*client));
  CHECK(slow.end(client));
}

TEST_CASE("mirror: what a read finds that is repeated in a new session is not believed") {
  World slow{std::chrono::hours{1}};
  slow.make("/m");
  auto client = slow.client("mine");
  slow.ensemble.leave_server_behind();  // for the next session
  slow.make("/m/a");
  const std::vector<std::pair<std::size_t, Fault>> first_read{
      {1, {.kind = FaultKind::expire_before}}};
  slow.ensemble.set_fault_plan(std::make_shared<FaultsAt>("mine", first_read));
  std::optional<TreeCache> mirror{std::in_place, *client, "/m"};
  REQUIRE(slow.run_until([&] { return mirror->state() == MirrorState::synced; }));
  CHECK(mirror->get("/m/a"));
  mirror.reset();
  CHECK(slow.run_until_idle(*client));
  CHECK(slow.end(client));
}

TEST_CASE("mirror: names of the same class are less deep") {
  MirrorScene scene{{}, {}, {"/m", "/m/a", "/m/a/b"}};
  REQUIRE(scene.follows());
  {
    const PathChildrenCache children{*scene.client, "/m"};
    const NodeCache node{*scene.client, "/m"};
    REQUIRE(scene.world.run_until([&] {
      return children.state() == MirrorState::synced && node.state() == MirrorState::synced;
    }));
    CHECK(children.snapshot()->size() == 2);
    REQUIRE(children.children().size() == 1);
    CHECK(children.children().front()->path == "/m/a");
    CHECK(node.snapshot()->size() == 1);
    CHECK(node.get()->data == "data of /m");
  }
  REQUIRE(scene.world.run_until([&] { return scene.world.ensemble.watches() == 6; }));
}

TEST_CASE("mirror: ephemeral children cost one request and one watch each") {
  World world;
  world.make("/m");
  auto client = world.client("mine");
  auto others = world.client("other");
  for (const char* name : {"/m/a", "/m/b"}) {
    const auto made = run<Created>(world, [&](auto done) {
      others->async_create(name, "", {.mode = CreateMode::ephemeral}, done);
    });
    REQUIRE_FALSE(made.error());
  }
  std::optional<PathChildrenCache> mirror{std::in_place, *client, "/m"};
  world.ensemble.clear_history();
  REQUIRE(world.run_until([&] { return mirror->state() == MirrorState::synced; }));
  CHECK(world.ensemble.history().size() == 5);
  CHECK(world.ensemble.watches() == 4);
  mirror.reset();
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
  CHECK(world.end(others));
}

TEST_CASE("mirror: without data it asks for none") {
  MirrorScene scene{{.data = MirrorData::not_kept}};
  REQUIRE(scene.runs_until(MirrorState::synced));
  for (const Submission& each : scene.world.ensemble.history()) CHECK(each.kind != "get");
  scene.world.settle();
  scene.replay.told.clear();
  scene.write("/m/a", "1");
  REQUIRE(scene.world.run_until([&] { return !scene.replay.told.empty(); }));
  CHECK(scene.replay.told == Told{"changed /m/a"});
  CHECK(scene.mirror->get("/m/a")->data.empty());
  CHECK(scene.mirror->get("/m/a")->stat.data_length == 1);
}

TEST_CASE("mirror: a read that finds its node gone leaves no watch on its path") {
  MirrorScene scene{{.data = MirrorData::not_kept}};
  REQUIRE(scene.runs_until(MirrorState::synced));
  REQUIRE(scene.world.run_until([&] { return scene.world.ensemble.watches() == 6; }));
  scene.write("/m/a", "1");
  scene.world.remove("/m/a");
  REQUIRE(scene.world.run_until([&] { return scene.mirror->get("/m/a") == nullptr; }));
  scene.world.settle();
  CHECK(scene.world.ensemble.watches() == 4);
}

TEST_CASE("mirror: what is not accepted is left out, also if the predicate throws") {
  MirrorOptions options;
  options.accept = [](std::string_view path) {
    if (path == "/m/b") throw std::runtime_error{"no b"};
    return true;
  };
  MirrorScene scene{options};
  REQUIRE(scene.runs_until(MirrorState::synced));
  CHECK(scene.mirror->snapshot()->size() == 2);
  CHECK(scene.lines_with("no b") == 1);
}

TEST_CASE("mirror: a node that may not be read is there without data, and logged once") {
  MirrorScene scene;
  scene.world.ensemble.refuse("/m/a");
  REQUIRE(scene.runs_until(MirrorState::synced));
  REQUIRE(scene.mirror->get("/m/a"));
  CHECK(scene.mirror->get("/m/a")->access == MirrorAccess::refused);
  CHECK(scene.mirror->get("/m/a")->data.empty());
  scene.world.make("/m/c");
  REQUIRE(scene.world.run_until([&] { return scene.mirror->get("/m/c") != nullptr; }));
  scene.world.settle();
  CHECK(scene.lines_with("/m/a may not be read") == 2);  // its data, and the list of its children
  scene.world.ensemble.permit("/m/a");
  scene.world.remove("/m/c");
  CHECK(scene.follows());
  CHECK(scene.mirror->get("/m/a")->data == "data of /m/a");
}

TEST_CASE("mirror: children that may not be listed any more take their watches along") {
  MirrorScene scene{{}, {}, {"/m", "/m/a", "/m/a/b"}};
  REQUIRE(scene.follows());
  CHECK(scene.world.ensemble.watches() == 6);
  scene.world.make("/m/a/c");
  scene.world.ensemble.refuse("/m/a");
  REQUIRE(scene.world.run_until([&] { return scene.mirror->children("/m/a").empty(); }));
  scene.world.settle();
  CHECK(scene.world.ensemble.watches() == 3);
}

TEST_CASE("mirror: a root that may not be read is tried again") {
  MirrorScene scene;
  scene.world.ensemble.refuse("/m");
  REQUIRE(scene.runs_until(MirrorState::synced));
  CHECK(scene.mirror->snapshot()->size() == 1);
  const std::size_t before = scene.requests();
  REQUIRE(scene.world.run_until([&] { return scene.requests() > before + 6; }));
  scene.world.ensemble.permit("/m");
  CHECK(scene.follows());
  scene.world.settle();
  const std::size_t after = scene.requests();
  scene.world.context.restart();
  scene.world.context.run_for(std::chrono::milliseconds{20});
  CHECK(scene.requests() == after);
  CHECK(scene.lines_with("may not be read") == 2);
}

TEST_CASE("mirror: a tree with too many nodes ends the mirror, whose nodes stay readable") {
  MirrorScene scene{{.max_nodes = 3}};
  REQUIRE(scene.follows());
  const auto waiting = scene.mirror->snapshot();
  Outcome<MirrorChange> next;
  for (int i = 0; i < 5; ++i) {
    next = {};
    scene.mirror->async_next(next.handler());
    if (!scene.world.run_until([&] { return next.arrived(); })) break;
    if (next.result().kind == MirrorChangeKind::synced) break;
  }
  next = {};
  scene.mirror->async_next(next.handler());
  scene.world.make("/m/c");
  REQUIRE(scene.runs_until(MirrorState::closed));
  REQUIRE(scene.world.run_until_arrived(next));
  CHECK(next.error() == boost::system::errc::no_buffer_space);
  CHECK(scene.lines_with("max_nodes") == 1);
  CHECK(scene.mirror->get("/m/b"));
  CHECK(scene.world.run_until_idle(*scene.client));
  const auto synced = run<>(scene.world, [&](auto done) { scene.mirror->async_wait_synced(done); });
  CHECK(synced.error() == boost::system::errc::no_buffer_space);
}

}  // namespace
}  // namespace custodian::tests::mirror_test
