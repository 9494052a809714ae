#include "ensembles/layout_rules.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

namespace {

constexpr std::size_t longest_name = 64;

bool is_name_character(char each) noexcept {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
         (each >= '0' && each <= '9') || each == '.' || each == '-' || each == '_';
}

std::string up_to(std::size_t most) { return " to " + std::to_string(most); }

}  // namespace

bool is_ensemble_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_name &&
         std::ranges::all_of(text, is_name_character);
}

bool is_mapped_path(std::string_view text) noexcept {
  if (text == "/") return true;
  const auto is_control = [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte < 0x20 || byte == 0x7f;
  };
  return text.starts_with('/') && !text.ends_with('/') && text.find("//") == text.npos &&
         std::ranges::none_of(text, is_control);
}

std::optional<std::string> layout_fault(const EnsembleLayout& layout) {
  if (layout.version < 1) return "version: 1 or more, not " + std::to_string(layout.version);
  if (layout.depth < 1 || layout.depth > EnsembleLayout::greatest_depth) {
    return "depth: 1" + up_to(EnsembleLayout::greatest_depth) + ", not " +
           std::to_string(layout.depth);
  }
  if (layout.ensembles.empty() || layout.ensembles.size() > EnsembleLayout::most_ensembles) {
    return "ensembles: 1" + up_to(EnsembleLayout::most_ensembles) + ", not " +
           std::to_string(layout.ensembles.size());
  }
  for (const auto& [name, weight] : layout.ensembles) {
    if (!is_ensemble_name(name)) {
      return "ensembles: a name has 1" + up_to(longest_name) +
             " letters, digits, dots, dashes and underscores";
    }
    if (weight < 0 || weight > EnsembleLayout::greatest_weight) {
      return "ensembles: the weight of " + name + " is 0" + up_to(EnsembleLayout::greatest_weight) +
             ", not " + std::to_string(weight);
    }
  }
  const auto has_tickets = [](const auto& each) { return each.second > 0; };
  if (std::ranges::none_of(layout.ensembles, has_tickets)) {
    return "ensembles: one at least has a weight above 0";
  }
  for (const auto& [path, name] : layout.pins) {
    if (!is_mapped_path(path)) {
      return "pins: a path begins with a slash, and has no empty component and no control "
             "character";
    }
    if (!layout.ensembles.contains(name)) {
      return "pins: " + path + " is pinned to " + (is_ensemble_name(name) ? name : "a name") +
             ", which is no ensemble of the layout";
    }
  }
  return std::nullopt;
}

}  // namespace custodian::recipes_detail
