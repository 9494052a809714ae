/// \file
/// The text form of a layout of ensembles, which other programs and people may have written.

#include "custodian/ensembles/ensemble_layout.hpp"

#include <variant>

#include "ensembles/home_choice.hpp"
#include "ensembles/layout_rules.hpp"
#include "ensembles/layout_text.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

namespace {

/// The longest pin above a path, by a plain second reading: each pin is tried.
std::string pinned_home(const EnsembleLayout& layout, std::string_view path) {
  std::string home;
  std::size_t longest = 0;
  for (const auto& [pin, name] : layout.pins) {
    const bool is_above = pin == "/" || path == pin || path.starts_with(pin + "/");
    if (is_above && pin.size() > longest) {
      longest = pin.size();
      home = name;
    }
  }
  return home;
}

void try_home(const EnsembleLayout& layout, const recipes_detail::HomeChoice& choice,
              const std::string& path) {
  const std::string home = choice.home_of(path);
  require(layout.ensembles.contains(home), "a home is an ensemble of the layout");
  const std::string pinned = pinned_home(layout, path);
  if (!pinned.empty()) return require(home == pinned, "the longest pin decides");
  require(layout.ensembles.at(home) > 0, "without a pin a home has a weight");
  const std::string key{recipes_detail::key_of_path(path, layout.depth)};
  require(path.starts_with(key) && !key.empty(), "a key is the beginning of its path");
}

}  // namespace

void ensemble_layout(std::string_view input) {
  using namespace recipes_detail;
  const auto read = decode_layout(input);
  if (const auto* const fault = std::get_if<LayoutFault>(&read)) {
    return require(is_one_line(fault->text), "a fault has a reason, in one line");
  }
  const auto& layout = std::get<EnsembleLayout>(read);
  require(!layout_fault(layout), "what is read is valid");
  const std::string text = encode(layout);
  const auto again = decode_layout(text);
  const auto* const same = std::get_if<EnsembleLayout>(&again);
  require(same != nullptr && *same == layout, "what is written is read as the same");
  require(encode(*same) == text, "and is written as the same");
  require(fingerprint_of(text).size() == 16, "a fingerprint has 16 digits");
  const HomeChoice choice{layout};
  for (const char* path : {"/", "/a", "/a/b/c", "/orders/4711/lines/2"}) {
    try_home(layout, choice, path);
  }
  for (const auto& [path, name] : layout.pins) {
    require(choice.home_of(path) == name, "what is pinned has its home there");
    const std::string below = path == "/" ? "/x" : path + "/x";
    try_home(layout, choice, below);
    if (path != "/") try_home(layout, choice, path + "x");
  }
}

}  // namespace custodian::fuzz
