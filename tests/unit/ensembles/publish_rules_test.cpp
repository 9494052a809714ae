// The next write of a publisher of a moving map, by the copies that it has read.

#include "ensembles/publish_rules.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "unit/ensembles/generations.hpp"

namespace custodian::tests::publish_rules_test {
namespace {

using namespace generations;
using namespace recipes_detail;
using Names = std::vector<std::string>;

Publication next_of(const MapCopies& copies, std::optional<EnsembleLayout> target = {}) {
  const auto next = next_publication(copies, target);
  REQUIRE(std::holds_alternative<Publication>(next));
  return std::get<Publication>(next);
}

bool is_at_rest(const MapCopies& copies) {
  return std::holds_alternative<MapAtRest>(next_publication(copies, {}));
}

const EnsembleLayout old_layout = layout_of({"b", "c"});
const EnsembleLayout new_layout = layout_of({"a", "b"});
const MapCopy stable = copy_of(3, {old_layout});
const MapCopy moving = copy_of(4, {old_layout, new_layout});
const MapCopy turned = copy_of(5, {old_layout, new_layout});
const MapCopy moved = copy_of(6, {old_layout, new_layout});

TEST_CASE("publish: the first map is given to all its ensembles", "[publish]") {
  const Publication next = next_of({{"a", {}}, {"b", {}}, {"c", {}}}, old_layout);
  CHECK(next.next == stable);
  CHECK(next.targets == Names{"b", "c"});
  CHECK(next.asked.empty());
  // A publisher that has another plan ends this one first.
  CHECK(next_of({{"a", {}}, {"b", stable}, {"c", {}}}, new_layout).targets == Names{"c"});
  CHECK(is_at_rest({{"a", {}}, {"b", stable}, {"c", stable}}));
}

TEST_CASE(
    "publish: moving is written first where the old generation decides, and new ensembles "
    "are asked nothing",
    "[publish]") {
  const Publication next = next_of({{"a", {}}, {"b", stable}, {"c", stable}}, new_layout);
  CHECK(next.next == moving);
  CHECK(next.targets == Names{"b", "c", "a"});
  CHECK(next.asked == Names{"b", "c"});
  // A new ensemble may have a copy of an earlier time.
  CHECK(next_of({{"a", stable}, {"b", stable}, {"c", stable}}, new_layout).targets == next.targets);
}

TEST_CASE("publish: a version that not all copies have is written to the others, whatever the plan",
          "[publish]") {
  const Publication next =
      next_of({{"a", {}}, {"b", moving}, {"c", stable}}, layout_of({"a", "z"}));
  CHECK(next.next == moving);
  CHECK(next.targets == Names{"c", "a"});
}

TEST_CASE("publish: turned is written when all members of both generations have announced moving",
          "[publish]") {
  const Publication next = next_of({{"a", moving}, {"b", moving}, {"c", moving}});
  CHECK(next.next == turned);
  CHECK(next.asked == Names{"a", "b", "c"});
}

TEST_CASE("publish: stable asks nobody, and is written first where the map leaves", "[publish]") {
  const Publication next = next_of({{"a", turned}, {"b", turned}, {"c", turned}});
  CHECK(next.next == moved);
  CHECK(next.targets == Names{"c", "a", "b"});
  CHECK(next.asked.empty());
  CHECK(next_of({{"a", turned}, {"b", turned}, {"c", moved}}).targets == Names{"a", "b"});
}

TEST_CASE("publish: an ensemble that is dropped gets stable, and nothing after", "[publish]") {
  CHECK(is_at_rest({{"a", moved}, {"b", moved}, {"c", moved}}));
  const Publication next =
      next_of({{"a", moved}, {"b", moved}, {"c", moved}, {"d", {}}}, layout_of({"b", "d"}));
  CHECK(next.asked == Names{"a", "b"});
  CHECK(std::ranges::count(next.targets, "c") == 0);
}

TEST_CASE("publish: another map is refused", "[publish]") {
  const auto next = next_publication({{"b", stable}, {"c", copy_of(3, {new_layout})}}, {});
  REQUIRE(std::holds_alternative<MapFault>(next));
  CHECK(std::get<MapFault>(next).text == "the copy of c is one of another map");
}

TEST_CASE("publish: a plan is carried out when a generation from there on has its layout",
          "[publish]") {
  CHECK_FALSE(has_been(stable, new_layout, 1));
  CHECK_FALSE(has_been(turned, new_layout, 1));
  CHECK(has_been(moved, new_layout, 1));
  CHECK(has_been(moved, old_layout, 1));
  CHECK_FALSE(has_been(moved, old_layout, 2));
}

/// Five ensembles, and publishers that crash after any write.
TEST_CASE(
    "publish: however often publishers crash, copies stay within one version of each other, "
    "and the move ends",
    "[publish]") {
  std::mt19937 random{4713};
  for (int run = 0; run < 200; ++run) {
    MapCopies copies;
    for (const char* name : {"a", "b", "c", "d", "e"}) copies[name];
    for (int move = 0; move < 6; ++move) {
      EnsembleLayout plan = any_layout(random);
      const MapCopy* const before = newest_of(copies);
      const std::size_t wanted = before == nullptr ? 1 : before->generations.size() + 1;
      for (int step = 0;; ++step) {
        REQUIRE(step < 1000);
        const MapCopy* const newest = newest_of(copies);
        const bool has_begun = newest != nullptr && newest->generations.size() == wanted;
        const auto next = next_publication(copies, has_begun ? std::nullopt : std::optional{plan});
        REQUIRE_FALSE(std::holds_alternative<MapFault>(next));
        if (std::holds_alternative<MapAtRest>(next)) break;
        const auto& publication = std::get<Publication>(next);
        REQUIRE_FALSE(publication.targets.empty());
        REQUIRE_FALSE(copy_fault(publication.next));
        for (const std::string& each : publication.targets) {
          copies[each] = publication.next;
          if (random() % 3 == 0) break;  // it crashes; the next one has a plan of its own
        }
        plan = any_layout(random);
        const MapCopy& last = *newest_of(copies);
        for (const std::string& each : concerned_by(last)) {
          const bool is_new =
              phase_of(last.version) == MapPhase::moving &&
              !last.generation(generation_of(last.version)).ensembles.contains(each);
          if (!is_new && last.version > first_map_version) {
            REQUIRE(copies[each]);
            CHECK(copies[each]->version >= last.version - 1);
          }
        }
      }
      const MapCopy& last = *newest_of(copies);
      CHECK(phase_of(last.version) == MapPhase::stable);
      CHECK(last.generations.size() == wanted);
      for (const std::string& each : concerned_by(last)) CHECK(copies[each] == last);
      for (const auto& [name, copy] : copies) {
        // No ensemble is left in the middle of a move.
        if (copy) CHECK(phase_of(copy->version) == MapPhase::stable);
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::publish_rules_test
