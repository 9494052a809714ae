// The homes of a path by a copy of a moving map, and the epoch of its tokens.

#include "ensembles/map_view.hpp"

#include "support/catch.hpp"
#include "unit/ensembles/generations.hpp"

namespace custodian::tests::map_view_test {
namespace {

using namespace generations;
using namespace recipes_detail;
using Homes = std::vector<std::string>;

EnsembleLayout pinned(const std::string& home) {
  EnsembleLayout layout = layout_of({"a", "b", "c"});
  layout.pins["/path"] = home;
  return layout;
}

TEST_CASE("map view: a path that moves has its old home, then both, then the new one",
          "[map_view]") {
  const std::vector<EnsembleLayout> layouts{pinned("a"), pinned("b")};
  CHECK(MapView{copy_of(3, {pinned("a")})}.homes_of("/path") == Homes{"a"});
  CHECK(MapView{copy_of(4, layouts)}.homes_of("/path") == Homes{"a", "b"});
  CHECK(MapView{copy_of(5, layouts)}.homes_of("/path") == Homes{"a", "b"});
  CHECK(MapView{copy_of(6, layouts)}.homes_of("/path") == Homes{"b"});
}

TEST_CASE("map view: a path with the same home in both generations does not move", "[map_view]") {
  const std::vector<EnsembleLayout> layouts{pinned("b"), pinned("b")};
  for (const std::int64_t version : {4, 5, 6}) {
    CHECK(MapView{copy_of(version, layouts)}.homes_of("/path/below") == Homes{"b"});
  }
}

TEST_CASE("map view: the epoch is the generation in which the path came to its home",
          "[map_view]") {
  const MapView view{
      copy_of(18, {pinned("a"), pinned("b"), pinned("b"), pinned("a"), pinned("a"), pinned("c")})};
  const std::vector<std::int64_t> epochs{1, 2, 2, 4, 4, 6};
  for (std::int64_t g = 1; g <= 6; ++g) {
    CHECK(view.epoch_of("/path", g) == epochs[static_cast<std::size_t>(g - 1)]);
  }
}

TEST_CASE("map view: a token has the epoch in front of the client's own", "[map_view]") {
  const FencingToken token = moved_token({.epoch = 7, .value = 5, .grant = 2}, 3);
  CHECK(token == FencingToken{.epoch = (std::int64_t{3} << 32) + 7, .value = 5, .grant = 2});
  CHECK(token > moved_token({.epoch = 9, .value = 6, .grant = 3}, 2));
}

TEST_CASE("map view: the epoch grows exactly where the home changes, on any walk of layouts",
          "[map_view]") {
  std::mt19937 random{4712};
  for (int i = 0; i < 100; ++i) {
    std::vector<EnsembleLayout> layouts;
    for (int g = 0; g < 8; ++g) layouts.push_back(any_layout(random));
    const MapView view{copy_of(24, std::move(layouts))};
    for (const std::string path : {"/pinned", "/a/b", "/orders/4711", "/x"}) {
      for (std::int64_t g = 2; g <= 8; ++g) {
        const bool moved = view.home_of(path, g) != view.home_of(path, g - 1);
        const std::int64_t before = view.epoch_of(path, g - 1);
        CHECK(view.epoch_of(path, g) == (moved ? g : before));
        CHECK(view.home_of(path, view.epoch_of(path, g)) == view.home_of(path, g));
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::map_view_test
