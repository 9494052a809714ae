// The greatest numbers and the characters that a layout may have, and those beside them.

#include "custodian/ensembles/ensemble_layout.hpp"
#include "ensembles/layout_rules.hpp"
#include "ensembles/map_copy.hpp"
#include "ensembles/publish_rules.hpp"
#include "support/catch.hpp"

namespace custodian::tests::layout_borders_test {
namespace {

using recipes_detail::layout_fault;

TEST_CASE("ensemble layout: a name has letters, digits, dots, dashes and underscores alone",
          "[ensemble_layout]") {
  const std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  for (int byte = 0; byte < 256; ++byte) {
    const char each = static_cast<char>(byte);
    INFO(byte);
    CHECK(recipes_detail::is_ensemble_name(std::string{each}) ==
          (allowed.find(each) != allowed.npos));
  }
}

TEST_CASE("ensemble layout: the greatest numbers are allowed, and the root may be pinned",
          "[ensemble_layout]") {
  EnsembleLayout layout{.ensembles = {{"east", EnsembleLayout::greatest_weight}}};
  layout.depth = EnsembleLayout::greatest_depth;
  layout.pins["/"] = "east";
  CHECK_FALSE(layout_fault(layout));
  EnsembleLayout many;
  for (std::size_t i = 0; i != EnsembleLayout::most_ensembles; ++i) {
    many.ensembles[std::to_string(i)] = 1;
  }
  CHECK_FALSE(layout_fault(many));
  many.ensembles["one-more"] = 1;
  CHECK(layout_fault(many));
}

TEST_CASE("map copy: a line that has the version's place and not its name is none", "[map_copy]") {
  const std::string layout = EnsembleLayout{.ensembles = {{"east", 1}}}.text();
  const auto is_copy = [&](const std::string& line) {
    const auto read =
        recipes_detail::decode_copy("custodian ensembles, map 1\n" + line + "\n" + layout);
    return std::holds_alternative<recipes_detail::MapCopy>(read);
  };
  CHECK(is_copy("version: 3"));
  CHECK_FALSE(is_copy("Version: 3"));
  CHECK_FALSE(is_copy("xxxxxxxxx3"));
}

TEST_CASE("map copy: a generation that breaks a layout's rule is named", "[map_copy]") {
  recipes_detail::MapCopy copy{.generations = {EnsembleLayout{.ensembles = {{"east", 1}}}}};
  copy.version = 3;
  copy.generations.front().version = 1;
  CHECK_FALSE(recipes_detail::copy_fault(copy));
  copy.generations.front().ensembles["east"] = 0;
  const auto fault = recipes_detail::copy_fault(copy);
  REQUIRE(fault);
  CHECK(fault->find("generation 1: ensembles") == 0);
}

TEST_CASE("publishing: a map that nobody has published is at rest without a layout") {
  const auto next = recipes_detail::next_publication({{"east", std::nullopt}}, std::nullopt);
  CHECK(std::holds_alternative<recipes_detail::MapAtRest>(next));
}

}  // namespace
}  // namespace custodian::tests::layout_borders_test
