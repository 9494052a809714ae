// A member of a partition whose requests are refused, each in its turn, for lack of permission.

#include "custodian/partition/set_partitioner.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::set_partitioner_refusals_test {
namespace {

/// Shares one shard until this member has it.
void own_the_shard(OrderScene& scene) {
  std::vector<OwnedShard> owned;
  SetPartitioner partitioner{scene.client, "/p", {"shard"}, "me", [&](OwnedShard shard) {
                               owned.push_back(std::move(shard));
                             }};
  scene.wait_until([&] { return !owned.empty(); });
  owned.clear();
}

TEST_CASE("refusals: a partition's member that tries again", "[refusals]") {
  play_every_refusal(
      "create sync get exists children exists create children get remove get remove",
      [](OrderScene& scene) {
        for (const std::string path : {"/p", "/p/party", "/p/locks", "/p/locks/shard"}) {
          scene.world.make(path);
        }
        scene.begin();
        own_the_shard(scene);
      },
      LastingRefusal::is_left_out);
}

TEST_CASE("refusals: a partition's member that comes first of all", "[refusals]") {
  play_every_refusal(
      "create sync create exists create create exists create children get exists create children "
      "create create create create children get remove get remove",
      [](OrderScene& scene) {
        scene.begin();
        own_the_shard(scene);
      },
      LastingRefusal::is_left_out);
}

}  // namespace
}  // namespace custodian::tests::set_partitioner_refusals_test
