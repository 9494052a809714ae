// The homes that an acquire or a hold on a moving map takes and releases next, and the claims that
// keep its client from announcing.

#include "ensembles/claim_rules.hpp"

#include <algorithm>

#include "support/catch.hpp"

namespace custodian::tests::claim_rules_test {
namespace {

using namespace recipes_detail;
using Names = std::vector<std::string>;

constexpr auto acquiring = ClaimPhase::acquiring;
constexpr auto holding = ClaimPhase::holding;

struct Expected {
  Names drop;
  std::optional<std::string> take;
};

void check_step(const Names& homes, const ClaimState& claim, const Expected& expected) {
  const ClaimStep step = next_step(homes, claim);
  CHECK(step.drop == expected.drop);
  CHECK(step.take == expected.take);
}

TEST_CASE("claim: an acquire takes the old home, then the new one", "[claim]") {
  check_step({"a"}, {acquiring, {}}, {{}, "a"});
  check_step({"a"}, {acquiring, {"a"}}, {{}, std::nullopt});
  check_step({"a", "b"}, {acquiring, {}}, {{}, "a"});
  check_step({"a", "b"}, {acquiring, {"a"}}, {{}, "b"});
  check_step({"a", "b"}, {acquiring, {"a", "b"}}, {{}, std::nullopt});
}

TEST_CASE("claim: an acquire that has lost the old home begins anew at it", "[claim]") {
  check_step({"a", "b"}, {acquiring, {"b"}}, {{"b"}, "a"});
}

TEST_CASE("claim: the old home is released when the path has moved", "[claim]") {
  check_step({"b"}, {acquiring, {"a"}}, {{"a"}, "b"});
  check_step({"b"}, {acquiring, {"a", "b"}}, {{"a"}, std::nullopt});
  check_step({"b"}, {holding, {"a", "b"}}, {{"a"}, std::nullopt});
}

TEST_CASE("claim: a hold takes the new home in addition, and keeps what it has", "[claim]") {
  check_step({"a", "b"}, {holding, {"a"}}, {{}, "b"});
  check_step({"a", "b"}, {holding, {"a", "b"}}, {{}, std::nullopt});
}

TEST_CASE("claim: moving is announced when no hold has the old home alone", "[claim]") {
  const Names homes{"a", "b"};
  CHECK(lets_announce(MapPhase::moving, homes, {acquiring, {}}));
  CHECK(lets_announce(MapPhase::moving, homes, {acquiring, {"a"}, "b"}));
  CHECK_FALSE(lets_announce(MapPhase::moving, homes, {holding, {"a"}, "b"}));
  CHECK(lets_announce(MapPhase::moving, homes, {holding, {"a", "b"}}));
  CHECK(lets_announce(MapPhase::moving, {"a"}, {holding, {"a"}}));
}

TEST_CASE("claim: stable is announced when no acquire has the old home, or waits there",
          "[claim]") {
  const Names homes{"b"};
  CHECK(lets_announce(MapPhase::stable, homes, {acquiring, {}}));
  CHECK(lets_announce(MapPhase::stable, homes, {acquiring, {}, "b"}));
  CHECK_FALSE(lets_announce(MapPhase::stable, homes, {acquiring, {}, "a"}));
  CHECK_FALSE(lets_announce(MapPhase::stable, homes, {acquiring, {"a"}, "b"}));
  CHECK(lets_announce(MapPhase::stable, homes, {holding, {"b"}}));
}

TEST_CASE(
    "claim: whatever it has, an acquire keeps a beginning of its homes, and a hold drops none",
    "[claim]") {
  const Names all{"a", "b", "c"};
  for (const Names& homes : {Names{"a"}, Names{"b"}, Names{"a", "b"}, Names{"b", "a"}}) {
    for (unsigned mask = 0; mask < 8; ++mask) {
      Names locks;
      for (unsigned i = 0; i < 3; ++i) {
        if ((mask >> i & 1U) != 0) locks.push_back(all[i]);
      }
      for (const ClaimPhase phase : {acquiring, holding}) {
        const ClaimStep step = next_step(homes, {phase, locks});
        const auto keeps = [&](const std::string& each) {
          return std::ranges::count(locks, each) == 1 && std::ranges::count(step.drop, each) == 0;
        };
        const auto kept = std::ranges::count_if(all, keeps);
        if (phase == acquiring) {
          CHECK(std::ranges::all_of(homes.begin(), homes.begin() + kept, keeps));
        } else {
          for (const std::string& each : homes) {
            CHECK(keeps(each) == (std::ranges::count(locks, each) == 1));
          }
        }
        CHECK(step.take.has_value() == !std::ranges::all_of(homes, [&](const auto& each) {
                return std::ranges::count(locks, each) == 1;
              }));
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::claim_rules_test
