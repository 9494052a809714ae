// A client's own operations, whose requests are refused, each in its turn, for lack of permission.

#include "custodian/authoring/owned_node.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::client_refusals_test {
namespace {

/// Leaves nothing of an earlier client's at this path.
void clear(const OrderScene& scene, const std::string& path) {
  if (scene.world.ensemble.exists(path)) scene.world.ensemble.remove_tree(path);
}

// -- Creates --------------------------------------------------------------------------------------

TEST_CASE("refusals: a create below a parent that is there", "[refusals]") {
  play_every_refusal("create!", [](OrderScene& scene) {
    clear(scene, "/a");
    scene.begin();
    scene.run<Created>([&](auto done) { scene.client.async_create("/a", "x", {}, done); });
  });
}

// The first request is answered by the missing parent, which refuses nobody.
TEST_CASE("refusals: a create that creates its parents", "[refusals]") {
  play_every_refusal("create~ create~ create! create! create!", [](OrderScene& scene) {
    clear(scene, "/a");
    scene.begin();
    scene.run<Created>([&](auto done) {
      scene.client.async_create("/a/b/c", "x", {.parents = Parents::created_as_containers}, done);
    });
  });
}

TEST_CASE("refusals: a create with a unique name, and its delete in the background", "[refusals]") {
  play_every_refusal("create! remove", [](OrderScene& scene) {
    scene.begin();
    const auto outcome = scene.run<Created>([&](auto done) {
      scene.client.async_create(
          "/a", "x", {.mode = CreateMode::ephemeral, .protection = Protection::by_unique_name},
          done);
    });
    if (!scene.failed()) scene.client.remove_in_background(outcome.result().path);
  });
}

TEST_CASE("refusals: a numbered create with parents, whose node is owned", "[refusals]") {
  play_every_refusal("create~ create! create! remove", [](OrderScene& scene) {
    clear(scene, "/a");
    scene.begin();
    const auto outcome = scene.run<Created>([&](auto done) {
      scene.client.async_create("/a/n-", "x",
                                {.mode = CreateMode::ephemeral_sequential,
                                 .protection = Protection::by_unique_name,
                                 .parents = Parents::created_as_containers},
                                done);
    });
    if (!scene.failed()) const OwnedNode owned{scene.client.core(), outcome.result()};
  });
}

// A persistent node stays when its delete is forbidden: the next client deletes it first.
TEST_CASE("refusals: an owned node that no session owns", "[refusals]") {
  play_every_refusal("create! remove", [](OrderScene& scene) {
    clear(scene, "/a");
    scene.begin();
    const auto outcome =
        scene.run<Created>([&](auto done) { scene.client.async_create("/a", "x", {}, done); });
    if (!scene.failed()) const OwnedNode owned{scene.client.core(), outcome.result()};
  });
}

// -- Writes ---------------------------------------------------------------------------------------

TEST_CASE("refusals: an upsert of a node that is there", "[refusals]") {
  play_every_refusal("set!", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.begin();
    scene.run<Upserted>([&](auto done) { scene.client.async_upsert("/a", "x", {}, done); });
  });
}

TEST_CASE("refusals: an upsert of a new node, with its parents", "[refusals]") {
  play_every_refusal("set~ create~ create! create!", [](OrderScene& scene) {
    clear(scene, "/a");
    scene.begin();
    scene.run<Upserted>([&](auto done) {
      scene.client.async_upsert("/a/b", "x", {.parents = Parents::created_as_containers}, done);
    });
  });
}

TEST_CASE("refusals: a write, and a transaction", "[refusals]") {
  play_every_refusal("set! multi!", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.world.make("/b");
    scene.begin();
    scene.run<Stat>([&](auto done) { scene.client.async_set("/a", "x", {}, done); });
    if (scene.failed()) return;
    scene.run<std::vector<TransactionResult>>([&](auto done) {
      scene.client.async_commit({check("/a"), set("/a", "y"), custodian::remove("/b")},
                                OperationOptions{}, done);
    });
  });
}

TEST_CASE("refusals: a node's ACL is written and read", "[refusals]") {
  play_every_refusal("set_acl! get_acl!", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.begin();
    scene.run<>([&](auto done) { scene.client.async_set_acl("/a", open_acl(), {}, done); });
    if (scene.failed()) return;
    scene.run<Acl>([&](auto done) { scene.client.async_get_acl("/a", {}, done); });
  });
}

// -- Deletes --------------------------------------------------------------------------------------

TEST_CASE("refusals: a remove, which need not find the node", "[refusals]") {
  play_every_refusal("remove! remove", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.begin();
    const RemoveOptions options{.missing = Missing::is_fine};
    scene.run<>([&](auto done) { scene.client.async_remove("/a", options, done); });
    if (scene.failed()) return;
    scene.run<>([&](auto done) { scene.client.async_remove("/a", options, done); });
  });
}

TEST_CASE("refusals: a remove of a node with all below it", "[refusals]") {
  play_every_refusal(
      "remove! children! remove! children! remove! remove! remove!", [](OrderScene& scene) {
        scene.world.make("/a");
        scene.world.make("/a/b");
        scene.world.make("/a/b/c");
        scene.begin();
        const RemoveOptions options{.descendants = Descendants::are_removed};
        scene.run<>([&](auto done) { scene.client.async_remove("/a", options, done); });
      });
}

// -- Reads ----------------------------------------------------------------------------------------

// Neither `exists` nor `sync` needs a permission.
TEST_CASE("refusals: reads of a node without watches", "[refusals]") {
  play_every_refusal("get! children! exists sync", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.begin();
    const OperationOptions options;
    scene.run<GetResult>([&](auto done) { scene.client.async_get("/a", options, done); });
    if (scene.failed()) return;
    scene.run<Children>([&](auto done) { scene.client.async_children("/a", options, done); });
    if (scene.failed()) return;
    scene.run<std::optional<Stat>>(
        [&](auto done) { scene.client.async_exists("/a", options, done); });
    scene.run<>([&](auto done) { scene.client.async_sync("/a", options, done); });
  });
}

// A read that fails leaves no watch, and one whose watch is destroyed takes it back.
TEST_CASE("refusals: reads of a node with watches", "[refusals]") {
  play_every_refusal("get! children! exists", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.begin();
    const OperationOptions options;
    const auto got = scene.run<GetResult, Watch>(
        [&](auto done) { scene.client.async_get_and_watch("/a", options, done); });
    if (scene.failed() && got.template result<2>()) scene.complain("a get that failed has a watch");
    if (scene.failed()) return;
    const auto listed = scene.run<Children, Watch>(
        [&](auto done) { scene.client.async_children_and_watch("/a", options, done); });
    if (scene.failed() && listed.template result<2>()) scene.complain("so has a listing");
    if (scene.failed()) return;
    const auto looked = scene.run<std::optional<Stat>, Watch>(
        [&](auto done) { scene.client.async_exists_and_watch("/a", options, done); });
    if (!looked.template result<2>()) scene.complain("a look has no watch");
  });
}

}  // namespace
}  // namespace custodian::tests::client_refusals_test
