#include "partition/shard_plan.hpp"

#include <map>

#include "support/catch.hpp"

namespace custodian::tests::shard_plan_test {
namespace {

using recipes_detail::owner_of_shard;
using recipes_detail::shard_weight;

std::set<std::string> members(int count) {
  std::set<std::string> all;
  for (int i = 0; i < count; ++i) all.insert("host-" + std::to_string(i));
  return all;
}
std::string shard(int number) { return "shard-" + std::to_string(number); }

TEST_CASE("shard plan: the weights are those that other machines compute", "[shard_plan]") {
  // Computed by another program. With other values, old and new members would disagree.
  CHECK(shard_weight("host-0", "shard-0") == 0x1f7795b33e1c7c97U);
  CHECK(shard_weight("", "") == 0x23c49fa36281442fU);
  CHECK(shard_weight("\xc3\xa4", "b") == 0x17f9bc40316bfaf8U);
}

TEST_CASE("shard plan: nobody owns a shard of nobody, and one owns all", "[shard_plan]") {
  CHECK(owner_of_shard("a", {}).empty());
  for (int i = 0; i < 100; ++i) CHECK(owner_of_shard(shard(i), {"me"}) == "me");
}

TEST_CASE("shard plan: the shards are spread", "[shard_plan]") {
  constexpr int shards = 8000;
  std::map<std::string_view, int> owned;
  const std::set<std::string> all = members(8);
  for (int i = 0; i < shards; ++i) ++owned[owner_of_shard(shard(i), all)];
  CHECK(owned.size() == 8);
  // The fair share is 1,000, with a standard deviation of 30.
  for (const auto& [member, count] : owned) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

TEST_CASE("shard plan: a member that comes takes its own shards, and nothing else moves",
          "[shard_plan]") {
  for (int count = 1; count < 20; ++count) {
    const std::set<std::string> before = members(count);
    const std::set<std::string> after = members(count + 1);
    const std::string comer = "host-" + std::to_string(count);
    for (int i = 0; i < 500; ++i) {
      const auto then = owner_of_shard(shard(i), before);
      const auto now = owner_of_shard(shard(i), after);
      if (now != comer) CHECK(now == then);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::shard_plan_test
