#include "json_members.hpp"

#include <algorithm>

namespace custodian::discovery_detail {

namespace {

constexpr std::string_view white = " \t\n\r";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The size of the string at the beginning of the text, with its quotes.
std::size_t string_size(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// The size of the value at the beginning of the text, up to the comma or the brace behind it.
std::size_t value_size(std::string_view text) {
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char each = text[at];
    if (each == '"') {
      at += string_size(text.substr(at));
      continue;
    }
    if (depth == 0 && (each == ',' || each == '}')) return at;
    if (each == '{' || each == '[') ++depth;
    if (each == '}' || each == ']') --depth;
    ++at;
  }
  return at;
}

}  // namespace

std::string_view trimmed_json(std::string_view json) {
  if (json.starts_with(byte_order_mark)) json.remove_prefix(byte_order_mark.size());
  const auto begin = json.find_first_not_of(white);
  if (begin == std::string_view::npos) return {};
  return json.substr(begin, json.find_last_not_of(white) + 1 - begin);
}

bool is_json_object(std::string_view json) { return trimmed_json(json).starts_with('{'); }

std::vector<JsonMember> json_members(std::string_view json) {
  std::vector<JsonMember> members;
  std::string_view rest = trimmed_json(json).substr(1);
  for (;;) {
    rest = trimmed_json(rest);
    if (rest.empty() || rest.front() != '"') return members;
    const std::string_view name = rest.substr(0, string_size(rest));
    rest.remove_prefix(name.size());
    rest.remove_prefix(rest.find(':') + 1);
    const std::string_view value = rest.substr(0, value_size(rest));
    rest.remove_prefix(value.size());
    members.emplace_back(name, trimmed_json(value));
    if (!rest.empty()) rest.remove_prefix(1);
  }
}

}  // namespace custodian::discovery_detail
