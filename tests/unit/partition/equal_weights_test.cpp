// Members with the same hash. The pairs of names were found by others' searches: they have the same
// 64-bit FNV-1a hash, and so the same weight for every shard.

#include <array>

#include "ensembles/home_choice.hpp"
#include "partition/shard_plan.hpp"
#include "support/catch.hpp"

namespace custodian::tests::equal_weights_test {
namespace {

/// Two names; the smaller one is first.
using Pair = std::pair<std::string, std::string>;

const std::array pairs{Pair{"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"},
                       Pair{"LtHf1prlU1bCeYZEdqWf", "gMPflVXtwGDXbIhP73TX"}};

TEST_CASE("shard plan: of members with equal weights the lesser name owns the shard",
          "[shard_plan]") {
  for (const auto& [lesser, greater] : pairs) {
    REQUIRE(recipes_detail::shard_weight(lesser, "a") ==
            recipes_detail::shard_weight(greater, "a"));
    for (const std::string shard : {"a", "b", "orders"}) {
      CHECK(recipes_detail::owner_of_shard(shard, {greater, lesser}) == lesser);
    }
  }
}

TEST_CASE("home choice: of ensembles with equal scores the lesser name is the home",
          "[home_choice]") {
  for (const auto& [lesser, greater] : pairs) {
    REQUIRE(recipes_detail::ticket_hash(lesser, 1) == recipes_detail::ticket_hash(greater, 1));
    const recipes_detail::HomeChoice choice{
        EnsembleLayout{.ensembles = {{greater, 1}, {lesser, 1}}}};
    for (const std::string path : {"/a", "/b", "/orders/4711"}) {
      CHECK(choice.home_of(path) == lesser);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::equal_weights_test
