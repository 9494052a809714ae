// Mirrors whose reads are refused, each in its turn, for lack of permission. A mirror shows what it
// may not read as refused, and reads its root again until that is permitted.

#include "custodian/mirror/node_cache.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/nodes/group.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::mirror_refusals_test {
namespace {

constexpr LastingRefusal left_out = LastingRefusal::is_left_out;

/// Waits until the mirror is in sync and may read its root.
void load(OrderScene& scene, const Mirror& mirror) {
  scene.run<>([&](auto done) { mirror.async_wait_synced(done); });
  const auto is_read = [&] {
    const MirroredNodePtr root = mirror.get(mirror.path());
    return !root || root->access == MirrorAccess::granted;
  };
  if (!scene.wait_until(is_read)) scene.complain("the root is not read again");
}

TEST_CASE("refusals: a node's mirror", "[refusals]") {
  play_every_refusal(
      "sync get",
      [](OrderScene& scene) {
        scene.world.make("/node", "x");
        scene.begin();
        const NodeCache mirror{scene.client, "/node"};
        load(scene, mirror);
        if (mirror.get() == nullptr || mirror.get()->data != "x") scene.complain("it lacks data");
      },
      left_out);
}

TEST_CASE("refusals: the mirror of a node that is not there yet", "[refusals]") {
  play_every_refusal(
      "sync get exists get",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/node")) scene.world.remove("/node");
        scene.begin();
        const NodeCache mirror{scene.client, "/node"};
        load(scene, mirror);
        scene.world.make("/node", "x");
        const auto has_data = [&] { return mirror.get() && mirror.get()->data == "x"; };
        if (!scene.wait_until(has_data)) scene.complain("the new node is not seen");
      },
      left_out);
}

TEST_CASE("refusals: a mirror of a node's children", "[refusals]") {
  play_every_refusal(
      "sync get children get",
      [](OrderScene& scene) {
        scene.world.make("/a");
        scene.world.make("/a/b", "x");
        scene.begin();
        const PathChildrenCache mirror{scene.client, "/a"};
        load(scene, mirror);
      },
      left_out);
}

TEST_CASE("refusals: a mirror of a tree that changes", "[refusals]") {
  play_every_refusal(
      "sync get children get children get",
      [](OrderScene& scene) {
        scene.world.make("/a");
        scene.world.make("/a/b", "x");
        scene.begin();
        const TreeCache mirror{scene.client, "/a"};
        load(scene, mirror);
        scene.world.ensemble.operate(request::Set{"/a", "y", any_version});
        const auto has_change = [&] { return mirror.get("/a") && mirror.get("/a")->data == "y"; };
        if (!scene.wait_until(has_change)) scene.complain("the change is not seen");
      },
      left_out);
}

}  // namespace
}  // namespace custodian::tests::mirror_refusals_test
