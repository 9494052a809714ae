#include "moving/plan.hpp"

#include <cmath>

#include "support/catch.hpp"

namespace custodian::tests::moving::plan_test {
namespace {

double moved_share(const EnsembleLayout& from, const EnsembleLayout& to,
                   const std::vector<std::string>& paths) {
  double moved = 0;
  for (const std::string& path : paths) moved += from.home_of(path) == to.home_of(path) ? 0 : 1;
  return moved / static_cast<double>(paths.size());
}

/// Whether two shares are the same but for rounding.
bool is_near(double one, double other) { return one - other < 1e-9 && other - one < 1e-9; }

TEST_CASE("moving plan: the ideal share is as small as the weights allow") {
  const auto paths = paths_of(100);
  const EnsembleLayout even{.depth = 3, .ensembles = {{"east", 1}, {"west", 1}}};
  const EnsembleLayout west{.depth = 3, .ensembles = {{"east", 1}, {"west", 3}}};
  const EnsembleLayout east{.depth = 3, .ensembles = {{"east", 3}, {"west", 1}}};
  const EnsembleLayout alone{.depth = 3, .ensembles = {{"east", 1}}};
  CHECK(is_near(ideal_share(even, even, paths), 0));
  CHECK(is_near(ideal_share(even, west, paths), 0.25));
  CHECK(is_near(ideal_share(west, east, paths), 0.5));
  CHECK(is_near(ideal_share(west, alone, paths), 0.75));
  CHECK(is_near(ideal_share(alone, west, paths), 0.75));
  EnsembleLayout groups = even;
  groups.depth = 2;
  CHECK(is_near(ideal_share(even, groups, paths), 0.5));
  EnsembleLayout pinned = even;
  pinned.pins = {{"/locks/g0", "west"}};
  CHECK(is_near(ideal_share(even, pinned, paths), 0.05));
  CHECK(is_near(ideal_share(alone, pinned, paths), 0.55));
}

TEST_CASE("moving plan: the layouts of the steps are valid, differ, and move what they should") {
  for (const int count : {60, 2000}) {
    const auto paths = paths_of(count);
    for (int step = 1; step <= 20; ++step) {
      const EnsembleLayout from = layout_of_step(step - 1);
      const EnsembleLayout to = layout_of_step(step);
      REQUIRE_NOTHROW(to.check());
      REQUIRE(from != to);
      INFO(count << " paths, step " << step);
      const double moved = moved_share(from, to, paths);
      CHECK(moved > 0);
      CHECK(std::abs(moved - ideal_share(from, to, paths)) <= slack_of_share(from, to, paths));
    }
  }
}

TEST_CASE("moving plan: each path guards a node of its own") {
  CHECK(paths_of(60).at(37) == "/locks/g3/p37");
  CHECK(guarded_node("/locks/g3/p37") == "/guarded/g3-p37");
}

}  // namespace
}  // namespace custodian::tests::moving::plan_test
