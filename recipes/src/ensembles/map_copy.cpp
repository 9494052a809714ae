#include "ensembles/map_copy.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ensembles/layout_rules.hpp"
#include "ensembles/plain_number.hpp"

namespace custodian::recipes_detail {

namespace {

/// The first line: what the text is, and the version of its format.
constexpr std::string_view copy_title = "custodian ensembles, map 1";
constexpr std::string_view version_name = "version: ";

/// Takes the first line off the text, and returns it without its line break; nothing if the text
/// has no line break.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// Takes the first of several layouts off the text: all text in front of the next layout's title.
std::string_view take_layout(std::string_view& text) {
  const std::string next = "\n" + std::string{layout_title} + "\n";
  const std::size_t end = text.find(next);
  const std::string_view layout = text.substr(0, end == text.npos ? end : end + 1);
  text.remove_prefix(layout.size());
  return layout;
}

}  // namespace

std::optional<std::string> copy_fault(const MapCopy& copy) {
  if (copy.version < first_map_version) {
    return "version: " + std::to_string(first_map_version) + " or more";
  }
  const auto count = static_cast<std::int64_t>(copy.generations.size());
  if (count != last_generation_of(copy.version)) {
    return "version " + std::to_string(copy.version) + " has " +
           std::to_string(last_generation_of(copy.version)) + " generations, not " +
           std::to_string(count);
  }
  for (std::int64_t number = 1; number <= count; ++number) {
    const EnsembleLayout& layout = copy.generation(number);
    if (layout.version != number) {
      return "generation " + std::to_string(number) + " has the version " +
             std::to_string(layout.version);
    }
    if (const auto fault = layout_fault(layout)) {
      return "generation " + std::to_string(number) + ": " + *fault;
    }
  }
  return std::nullopt;
}

bool continues(const MapCopy& newer, const MapCopy& older) {
  return older.generations.size() <= newer.generations.size() &&
         std::ranges::equal(older.generations,
                            std::span{newer.generations}.first(older.generations.size()));
}

std::string encode(const MapCopy& copy) {
  std::string text{copy_title};
  text.append("\n").append(version_name).append(std::to_string(copy.version)).append("\n");
  for (const EnsembleLayout& each : copy.generations) text.append(encode(each));
  return text;
}

std::variant<MapCopy, LayoutFault> decode_copy(std::string_view text) {
  if (take_line(text) != copy_title) return LayoutFault{"it is not: " + std::string{copy_title}};
  const auto line = take_line(text);
  std::optional<std::int64_t> version;
  if (line && line->starts_with(version_name)) {
    version = plain_number<std::int64_t>(line->substr(version_name.size()));
  }
  if (!version) return LayoutFault{"line 2 is not the version"};
  MapCopy copy{.version = *version};
  while (!text.empty()) {
    auto read = decode_layout(take_layout(text));
    if (auto* const fault = std::get_if<LayoutFault>(&read)) {
      return LayoutFault{"generation " + std::to_string(copy.generations.size() + 1) + ", " +
                         fault->text};
    }
    copy.generations.push_back(std::get<EnsembleLayout>(std::move(read)));
  }
  if (auto fault = copy_fault(copy)) return LayoutFault{std::move(*fault)};
  return copy;
}

}  // namespace custodian::recipes_detail
