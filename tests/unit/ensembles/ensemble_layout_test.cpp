#include "custodian/ensembles/ensemble_layout.hpp"

#include <functional>

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::tests::ensemble_layout_test {
namespace {

EnsembleLayout two() {
  return {.version = 3,
          .depth = 2,
          .ensembles = {{"east", 1}, {"west", 2}},
          .pins = {{"/orders/hot", "east"}}};
}

constexpr auto text_of_two =
    "custodian ensembles, layout 1\n"
    "version: 3\n"
    "depth: 2\n"
    "ensemble: east 1\n"
    "ensemble: west 2\n"
    "pin: east /orders/hot\n";

/// The message of the error that a call throws; the code is checked. Empty if it throws none.
std::string refusal_of(Errc code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return {};
}

std::string refusal_of(const EnsembleLayout& layout) {
  return refusal_of(Errc::invalid_argument, [&] { layout.check(); });
}

std::string refusal_of_text(const std::string& text) {
  return refusal_of(Errc::malformed_data, [&] { (void)EnsembleLayout::parse(text); });
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("ensemble layout: the text form is what other programs read", "[ensemble_layout]") {
  CHECK(two().text() == text_of_two);
  CHECK(EnsembleLayout::parse(text_of_two) == two());
  // Computed by another program.
  CHECK(two().fingerprint() == "09a8a7d73fab5135");
}

TEST_CASE("ensemble layout: the order of lines does not matter, and the fingerprint is the same",
          "[ensemble_layout]") {
  const auto other_way = EnsembleLayout::parse(
      "custodian ensembles, layout 1\n"
      "pin: east /orders/hot\n"
      "ensemble: west 2\n"
      "depth: 2\n"
      "ensemble: east 1\n"
      "version: 3\n");
  CHECK(other_way == two());
  CHECK(other_way.fingerprint() == two().fingerprint());
}

TEST_CASE("ensemble layout: whatever differs is in the fingerprint", "[ensemble_layout]") {
  const std::string before = two().fingerprint();
  CHECK(before.size() == 16);
  const auto changed = [&](const std::function<void(EnsembleLayout&)>& change) {
    EnsembleLayout layout = two();
    change(layout);
    return layout.fingerprint() != before;
  };
  CHECK(changed([](auto& layout) { layout.version = 4; }));
  CHECK(changed([](auto& layout) { layout.depth = 3; }));
  CHECK(changed([](auto& layout) { layout.ensembles["east"] = 2; }));
  CHECK(changed([](auto& layout) { layout.ensembles["north"] = 0; }));
  CHECK(changed([](auto& layout) { layout.pins.clear(); }));
  CHECK(changed([](auto& layout) { layout.pins["/orders/hot"] = "west"; }));
}

TEST_CASE("ensemble layout: a pin may have spaces in its path", "[ensemble_layout]") {
  EnsembleLayout layout = two();
  layout.pins["/a path/with spaces: two"] = "west";
  CHECK(refusal_of(layout).empty());
  CHECK(EnsembleLayout::parse(layout.text()) == layout);
}

TEST_CASE("ensemble layout: a layout that breaks a rule is refused, and the rule is named",
          "[ensemble_layout]") {
  CHECK(refusal_of(two()).empty());
  const auto refused = [](const std::function<void(EnsembleLayout&)>& change) {
    EnsembleLayout layout = two();
    change(layout);
    return refusal_of(layout);
  };
  CHECK(has(refused([](auto& layout) { layout.version = 0; }), "version"));
  CHECK(has(refused([](auto& layout) { layout.depth = 0; }), "depth"));
  CHECK(has(refused([](auto& layout) { layout.depth = 17; }), "not 17"));
  CHECK(has(refused([](auto& layout) { layout.ensembles.clear(); }), "ensembles"));
  CHECK(has(refused([](auto& layout) { layout.ensembles["west"] = -1; }), "weight of west"));
  CHECK(has(refused([](auto& layout) { layout.ensembles["west"] = 101; }), "weight of west"));
  for (const std::string name : {"", "a b", "a/b", "a#b", "a\nb", "\xc3\xa4"}) {
    CHECK(has(refused([&](auto& layout) { layout.ensembles[name] = 1; }), "a name has"));
  }
  const std::string longest(64, 'n');
  CHECK(refused([&](auto& layout) { layout.ensembles[longest] = 1; }).empty());
  CHECK(has(refused([&](auto& layout) { layout.ensembles[longest + "n"] = 1; }), "a name has"));
  CHECK(has(refused([](auto& layout) {
              layout.ensembles = {{"east", 0}, {"west", 0}};
            }),
            "above 0"));
  for (const std::string path : {"", "orders", "/orders/", "//orders", "/a\n", "/a\x7f"}) {
    CHECK(has(refused([&](auto& layout) { layout.pins[path] = "east"; }), "pins: a path"));
  }
  CHECK(has(refused([](auto& layout) { layout.pins["/jobs"] = "nroth"; }),
            "/jobs is pinned to nroth, which is no ensemble of the layout"));
  EnsembleLayout many;
  for (int i = 0; i <= 1000; ++i) many.ensembles[std::to_string(i)] = 1;
  CHECK(has(refusal_of(many), "not 1001"));
}

TEST_CASE("ensemble layout: a text that is none is refused, and the line is named",
          "[ensemble_layout]") {
  const auto refused = [](const std::string& part, const std::string& by) {
    return refusal_of_text(replaced(text_of_two, part, by));
  };
  CHECK(refused("/orders/hot", "/orders/cold").empty());
  CHECK(has(refusal_of_text(""), "empty"));
  CHECK(has(refusal_of_text("custodian ensembles, layout 1\n"), "no line version"));
  CHECK(has(refused("layout 1", "layout 2"), "line 1"));
  CHECK(has(refused("/orders/hot\n", "/orders/hot"), "line 6: it has no end"));
  CHECK(has(refused("depth: 2\n", ""), "no line depth"));
  CHECK(has(refused("depth: 2", "depth: 2\ndepth: 2"), "line 4: depth is there twice"));
  for (const std::string number : {"", "02", "+2", "-2", "2 ", " 2", "0x2", "2.0", "99999999999"}) {
    CHECK(has(refused("depth: 2", "depth: " + number), "line 3: depth"));
  }
  CHECK(has(refused("version: 3", "version: 0"), "version: 1 or more"));
  CHECK(has(refused("version: 3", "version:3"), "line 2"));
  CHECK(has(refused("ensemble: west 2", "ensemble: west"), "line 5: ensemble"));
  CHECK(has(refused("ensemble: west 2", "ensemble: west  2"), "line 5: ensemble"));
  CHECK(has(refused("ensemble: west 2", "ensemble: east 2"), "line 5: the ensemble east is there"));
  CHECK(has(refused("ensemble: west 2", "ensemble: west 101"), "weight of west"));
  CHECK(has(refused("pin: east", "pin: nroth"), "nroth, which is no ensemble"));
  CHECK(has(refused("/orders/hot", "orders"), "line 6: pin"));
  CHECK(has(refused("pin: east /orders/hot", "pin: east"), "line 6: pin"));
  CHECK(has(refused("/orders/hot", "/orders/hot\npin: west /orders/hot"), "line 7: the path"));
  CHECK(has(refused("pin: ", "\npin: "), "line 6"));
}

TEST_CASE("ensemble layout: a line that this version does not know is refused",
          "[ensemble_layout]") {
  const std::string message = refusal_of_text(std::string{text_of_two} + "moving: east to west\n");
  CHECK(has(message, "line 7: the name of the line is unknown"));
}

TEST_CASE("ensemble layout: the home of a path is looked up only in a valid layout",
          "[ensemble_layout]") {
  CHECK(two().home_of("/orders/hot/1") == "east");
  const auto refused = [](const EnsembleLayout& layout, const std::string& path) {
    return refusal_of(Errc::invalid_argument, [&] { (void)layout.home_of(path); });
  };
  CHECK(has(refused(two(), "orders"), "orders"));
  CHECK(has(refused(two(), ""), "path"));
  CHECK(has(refused({}, "/orders"), "ensembles"));
}

}  // namespace
}  // namespace custodian::tests::ensemble_layout_test
