#include "instance_choice.hpp"

#include <algorithm>
#include <map>

#include "support/catch.hpp"

namespace custodian::tests::instance_choice_test {
namespace {

using discovery_detail::instance_for;
using discovery_detail::InstanceChoice;
using discovery_detail::InstancePtr;
using discovery_detail::rendezvous_score;

std::vector<InstancePtr> instances(int number, int first = 0) {
  std::vector<InstancePtr> all;
  for (int i = first; i < first + number; ++i) {
    all.push_back(std::make_shared<const ServiceInstance>(
        ServiceInstance{.name = "foo", .id = std::to_string(100 + i)}));
  }
  return all;
}

/// How often each instance was chosen.
std::map<std::string, int> choices(InstanceChoice& choice, const std::vector<InstancePtr>& all,
                                   int times) {
  std::map<std::string, int> count;
  for (int i = 0; i < times; ++i) ++count[choice.next(all)->id];
  return count;
}

TEST_CASE("instance choice: nothing is chosen of nothing", "[discovery]") {
  for (const auto strategy :
       {ProviderStrategy::round_robin, ProviderStrategy::random, ProviderStrategy::sticky}) {
    CHECK_FALSE(InstanceChoice(strategy, 1).next({}));
  }
  CHECK_FALSE(instance_for("key", {}));
}

TEST_CASE("instance choice: round robin takes one after the other", "[discovery]") {
  const auto all = instances(10);
  InstanceChoice choice{ProviderStrategy::round_robin, 7};
  const auto first = std::ranges::find(all, choice.next(all)) - all.begin();
  for (std::ptrdiff_t i = 1; i < 1234; ++i) {
    CHECK(choice.next(all) == all[static_cast<std::size_t>((first + i) % 10)]);
  }
}

TEST_CASE("instance choice: round robin does not begin with the same one everywhere",
          "[discovery]") {
  const auto all = instances(10);
  std::map<std::string, int> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ++first[InstanceChoice(ProviderStrategy::round_robin, seed).next(all)->id];
  }
  CHECK(first.size() > 5);
}

TEST_CASE("instance choice: random takes each as often", "[discovery]") {
  const auto all = instances(10);
  InstanceChoice choice{ProviderStrategy::random, 7};
  const auto count = choices(choice, all, 10'000);
  REQUIRE(count.size() == 10);
  for (const auto& [id, times] : count) {
    CHECK(times > 800);
    CHECK(times < 1200);
  }
}

TEST_CASE("instance choice: sticky stays with its instance, as long as it is there",
          "[discovery]") {
  InstanceChoice choice{ProviderStrategy::sticky, 7};
  auto all = instances(10);
  const std::string id = choice.next(all)->id;
  CHECK(choices(choice, all, 1000).size() == 1);
  // An instance is known by its id: one that has changed is the same.
  for (InstancePtr& each : all) {
    each = std::make_shared<const ServiceInstance>(ServiceInstance{.id = each->id, .port = 5});
  }
  CHECK(choice.next(all)->id == id);
  CHECK(choice.next(all)->port == 5);
  const auto others = instances(10, 10);
  const std::string other = choice.next(others)->id;
  CHECK(other != id);
  CHECK(choices(choice, others, 1000).size() == 1);
}

TEST_CASE("instance choice: sticky takes an instance whose id is empty for one of many",
          "[discovery]") {
  InstanceChoice choice{ProviderStrategy::sticky, 7};
  std::vector<InstancePtr> all{std::make_shared<const ServiceInstance>()};
  CHECK(choice.next(all));
  CHECK(choice.next(all));
}

TEST_CASE("instance choice: a key moves only to or from an instance that comes or goes",
          "[discovery]") {
  const auto eight = instances(8);
  auto seven = eight;
  seven.erase(seven.begin() + 3);
  auto mixed_up = eight;
  std::ranges::reverse(mixed_up);
  std::map<std::string, int> count;
  for (int i = 0; i < 8000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    const InstancePtr owner = instance_for(key, eight);
    ++count[owner->id];
    CHECK(instance_for(key, mixed_up) == owner);
    if (owner != eight[3]) CHECK(instance_for(key, seven) == owner);
  }
  REQUIRE(count.size() == 8);
  for (const auto& [id, keys] : count) {
    CHECK(keys > 850);
    CHECK(keys < 1150);
  }
}

TEST_CASE("instance choice: the score of a key is the same on every machine", "[discovery]") {
  CHECK(rendezvous_score("shard-0", "host-0") == 0x1F7795B33E1C7C97);
  CHECK(rendezvous_score("ab", "c") != rendezvous_score("a", "bc"));
}

}  // namespace
}  // namespace custodian::tests::instance_choice_test
