// The copy of a moving map: its versions, and its text.

#include "ensembles/map_copy.hpp"

#include "support/catch.hpp"
#include "unit/ensembles/generations.hpp"

namespace custodian::tests::map_copy_test {
namespace {

using namespace generations;
using namespace recipes_detail;

std::string fault_of(std::string_view text) {
  const auto read = decode_copy(text);
  const auto* const fault = std::get_if<LayoutFault>(&read);
  return fault ? fault->text : std::string{};
}

TEST_CASE("map copy: three versions lead from one generation to the next", "[map_copy]") {
  CHECK(phase_of(3) == MapPhase::stable);
  CHECK(phase_of(4) == MapPhase::moving);
  CHECK(phase_of(5) == MapPhase::turned);
  CHECK(phase_of(6) == MapPhase::stable);
  for (const std::int64_t version : {3, 4, 5}) CHECK(generation_of(version) == 1);
  CHECK(generation_of(6) == 2);
  CHECK(last_generation_of(3) == 1);
  for (const std::int64_t version : {4, 5, 6}) CHECK(last_generation_of(version) == 2);
}

TEST_CASE("map copy: the text has the version and the generations, each as its own text",
          "[map_copy]") {
  const MapCopy copy = copy_of(4, {layout_of({"east"}), layout_of({"east", "west"})});
  CHECK(encode(copy) ==
        "custodian ensembles, map 1\n"
        "version: 4\n" +
            copy.generation(1).text() + copy.generation(2).text());
}

TEST_CASE("map copy: what is written is read as the same", "[map_copy]") {
  std::mt19937 random{4711};
  for (int i = 0; i < 300; ++i) {
    const std::int64_t version = 3 + static_cast<std::int64_t>(random() % 12);
    std::vector<EnsembleLayout> layouts;
    for (std::int64_t g = 1; g <= last_generation_of(version); ++g) {
      layouts.push_back(any_layout(random));
    }
    const MapCopy copy = copy_of(version, std::move(layouts));
    REQUIRE_FALSE(copy_fault(copy));
    const auto read = decode_copy(encode(copy));
    REQUIRE(std::holds_alternative<MapCopy>(read));
    CHECK(std::get<MapCopy>(read) == copy);
    // A text that was cut off within a line is refused.
    const std::string text = encode(copy);
    const std::string part = text.substr(0, random() % text.size());
    if (!part.ends_with('\n')) CHECK_FALSE(fault_of(part).empty());
  }
}

TEST_CASE("map copy: a copy continues those of its own map", "[map_copy]") {
  const EnsembleLayout one = layout_of({"east"});
  const EnsembleLayout two = layout_of({"east", "west"});
  CHECK(continues(copy_of(4, {one, two}), copy_of(3, {one})));
  CHECK(continues(copy_of(5, {one, two}), copy_of(4, {one, two})));
  CHECK_FALSE(continues(copy_of(4, {two, one}), copy_of(3, {one})));
  CHECK_FALSE(continues(copy_of(3, {one}), copy_of(4, {one, two})));
}

TEST_CASE("map copy: a text that breaks a rule is refused, with the reason", "[map_copy]") {
  const std::string first = layout_of({"east"}).text();
  const std::string head = "custodian ensembles, map 1\n";
  CHECK(fault_of("") == "it is not: custodian ensembles, map 1");
  CHECK(fault_of(first) == "it is not: custodian ensembles, map 1");
  CHECK(fault_of(head) == "line 2 is not the version");
  CHECK(fault_of(head + "version: 03\n" + first) == "line 2 is not the version");
  CHECK(fault_of(head + "version: 2\n" + first) == "version: 3 or more");
  CHECK(fault_of(head + "version: 4\n" + first) == "version 4 has 2 generations, not 1");
  CHECK(fault_of(head + "version: 3\n" + first + first) == "version 3 has 1 generations, not 2");
  CHECK(fault_of(head + "version: 4\n" + first + first) == "generation 2 has the version 1");
  CHECK(fault_of(head + "version: 3\nhello\n") ==
        "generation 1, line 1: it is not: custodian ensembles, layout 1");
  CHECK(fault_of(head + "version: 3\n" + first).empty());
}

}  // namespace
}  // namespace custodian::tests::map_copy_test
