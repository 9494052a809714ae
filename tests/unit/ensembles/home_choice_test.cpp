#include "ensembles/home_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/catch.hpp"

namespace custodian::tests::home_choice_test {
namespace {

using recipes_detail::HomeChoice;
using recipes_detail::key_of_path;
using recipes_detail::ticket_hash;
using recipes_detail::ticket_score;

constexpr int many_paths = 100'000;

/// Paths as people make them: two families, numbered.
std::string path_number(int number) {
  return (number % 2 == 0 ? "/orders/" : "/users/customer-") + std::to_string(number / 2);
}

/// Ensembles with names that hardly differ, of the same weight.
EnsembleLayout alike(int count) {
  EnsembleLayout layout;
  for (int i = 0; i < count; ++i) layout.ensembles["zk-" + std::to_string(i)] = 1;
  return layout;
}

std::map<std::string, int> spread(const EnsembleLayout& layout) {
  const HomeChoice choice{layout};
  std::map<std::string, int> paths;
  for (int i = 0; i < many_paths; ++i) ++paths[choice.home_of(path_number(i))];
  return paths;
}

TEST_CASE("home choice: the scores are those that other languages compute", "[home_choice]") {
  // Computed by another program. With other values, old and new processes would disagree.
  CHECK(ticket_score(ticket_hash("east", 1), "/orders/4711") == 0xc2fb67168c862d49U);
  CHECK(ticket_score(ticket_hash("west", 2), "/") == 0x58fc0cd7d90307baU);
  CHECK(ticket_score(ticket_hash("a.b-c_d", 100), "/\xc3\xa4") == 0x02481f20e2c11848U);
}

TEST_CASE("home choice: paths have the homes that other languages compute", "[home_choice]") {
  const HomeChoice choice{{.ensembles = {{"east", 1}, {"west", 1}, {"north", 2}}}};
  CHECK(choice.home_of("/orders/4711") == "north");
  CHECK(choice.home_of("/users/ada") == "east");
  CHECK(choice.home_of("/users/bob") == "north");
  CHECK(choice.home_of("/") == "north");
  const HomeChoice three{{.ensembles = {{"east", 1}, {"north", 1}, {"west", 1}}}};
  for (int i = 0; i < 100; ++i) {
    const std::string path = path_number(i);
    std::string home;
    std::uint64_t highest = 0;
    for (const std::string name : {"west", "north", "east"}) {
      const std::uint64_t score = ticket_score(ticket_hash(name, 1), path);
      if (score > highest) home = name;
      highest = std::max(highest, score);
    }
    CHECK(three.home_of(path) == home);
  }
}

TEST_CASE("home choice: the key is as many components as the depth says", "[home_choice]") {
  CHECK(key_of_path("/a/b/c", 1) == "/a");
  CHECK(key_of_path("/a/b/c", 2) == "/a/b");
  CHECK(key_of_path("/a/b/c", 3) == "/a/b/c");
  CHECK(key_of_path("/a/b/c", 4) == "/a/b/c");
  CHECK(key_of_path("/", 1) == "/");
  CHECK(key_of_path("/a", 1) == "/a");
}

TEST_CASE("home choice: what is below one key has one home", "[home_choice]") {
  EnsembleLayout layout = alike(7);
  layout.depth = 2;
  const HomeChoice choice{layout};
  for (int i = 0; i < 1000; ++i) {
    const std::string path = path_number(i);
    CHECK(choice.home_of(path) == choice.home_of(path + "/lock/" + std::to_string(i)));
  }
}

TEST_CASE("home choice: ensembles of equal weight have equal shares", "[home_choice]") {
  for (const int count : {1, 2, 3, 5, 8, 16}) {
    const auto paths = spread(alike(count));
    CHECK(paths.size() == static_cast<std::size_t>(count));
    // Five standard deviations: 8 % of a share for 16 ensembles, 1 % for two.
    const double share = double{many_paths} / count;
    const double tolerance = 5 * std::sqrt(share);
    for (const auto& [name, number] : paths) {
      INFO(name << " of " << count);
      CHECK(std::abs(number - share) < tolerance);
    }
  }
}

TEST_CASE("home choice: an ensemble's share is as its weight says", "[home_choice]") {
  const EnsembleLayout layout{.ensembles = {{"east", 1}, {"north", 0}, {"south", 5}, {"west", 2}}};
  const auto paths = spread(layout);
  CHECK_FALSE(paths.contains("north"));
  for (const auto& [name, weight] : layout.ensembles) {
    if (weight == 0) continue;
    const double share = double{many_paths} * weight / 8;
    INFO(name);
    CHECK(std::abs(paths.at(name) - share) < 5 * std::sqrt(share));
  }
}

TEST_CASE("home choice: an ensemble that is added takes its share, and nothing else moves",
          "[home_choice]") {
  for (int count = 1; count < 8; ++count) {
    const HomeChoice before{alike(count)};
    const HomeChoice after{alike(count + 1)};
    const std::string added = "zk-" + std::to_string(count);
    int moved = 0;
    int moved_elsewhere = 0;
    for (int i = 0; i < many_paths; ++i) {
      const std::string path = path_number(i);
      const std::string& now = after.home_of(path);
      if (now == before.home_of(path)) continue;
      ++moved;
      if (now != added) ++moved_elsewhere;
    }
    CHECK(moved_elsewhere == 0);
    const double share = double{many_paths} / (count + 1);
    CHECK(std::abs(moved - share) < 5 * std::sqrt(share));
  }
}

TEST_CASE("home choice: a greater weight moves paths to that ensemble, and nothing else",
          "[home_choice]") {
  const HomeChoice before{{.ensembles = {{"east", 1}, {"north", 2}, {"west", 1}}}};
  const HomeChoice after{{.ensembles = {{"east", 1}, {"north", 3}, {"west", 1}}}};
  int moved = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string path = path_number(i);
    if (before.home_of(path) == after.home_of(path)) continue;
    ++moved;
    CHECK(after.home_of(path) == "north");
  }
  CHECK(moved > 500);
}

TEST_CASE("home choice: the longest pin above a path decides, by whole components",
          "[home_choice]") {
  const HomeChoice choice{{.depth = 1,
                           .ensembles = {{"east", 0}, {"north", 0}, {"west", 1}},
                           .pins = {{"/orders", "east"}, {"/orders/hot", "north"}}}};
  CHECK(choice.home_of("/orders") == "east");
  CHECK(choice.home_of("/orders/4711") == "east");
  CHECK(choice.home_of("/orders/hot") == "north");
  CHECK(choice.home_of("/orders/hot/1/2") == "north");
  CHECK(choice.home_of("/orders/hotter") == "east");
  CHECK(choice.home_of("/orders/hotter/hot") == "east");
  CHECK(choice.home_of("/orders-hot") == "west");
  CHECK(choice.home_of("/order") == "west");
  CHECK(choice.home_of("/") == "west");
}

TEST_CASE("home choice: a pin at the root is for all that no other pin is for", "[home_choice]") {
  const HomeChoice choice{{.ensembles = {{"east", 1}, {"north", 0}, {"west", 0}},
                           .pins = {{"/", "west"}, {"/a/b", "north"}}}};
  for (const char* path : {"/", "/a", "/a/c", "/b"}) CHECK(choice.home_of(path) == "west");
  CHECK(choice.home_of("/a/b/c") == "north");
}

}  // namespace
}  // namespace custodian::tests::home_choice_test
