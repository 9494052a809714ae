#include "text/printable_text.hpp"

#include <algorithm>
#include <array>

#include "one_line.hpp"

namespace custodian::cli {
namespace {

using detail::first_character;

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

constexpr std::array combining{Range{0x300, 0x36F},   Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
                               Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array wide{Range{0x1100, 0x115F}, Range{0x2E80, 0xA4CF},   Range{0xAC00, 0xD7A3},
                          Range{0xF900, 0xFAFF}, Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
                          Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

std::size_t columns_of(char32_t code) {
  if (is_in(combining, code)) return 0;
  return is_in(wide, code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string unambiguous;
  unambiguous.reserve(text.size());
  for (const char c : text) {
    if (c == '\\') unambiguous.push_back('\\');
    unambiguous.push_back(c);
  }
  return detail::in_one_line(unambiguous);
}

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto character = first_character(text);
    columns += character ? columns_of(character->code) : 1;
    text.remove_prefix(character ? character->bytes : 1);
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string{text};
  if (columns == 0) return {};
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const auto character = first_character(text.substr(bytes));
    used += character ? columns_of(character->code) : 1;
    if (used > columns - 1) break;
    bytes += character ? character->bytes : 1;
  }
  return std::string{text.substr(0, bytes)} + "…";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto character = first_character(text);
    if (!character) return false;
    text.remove_prefix(character->bytes);
  }
  return true;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4U];
    text += digits[byte & 0xFU];
  }
  return text;
}

}  // namespace custodian::cli
