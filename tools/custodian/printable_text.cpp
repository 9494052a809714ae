#include "printable_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace custodian::cli {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// The first character; nothing if the text does not begin with one in its shortest form.
std::optional<Character> first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t size = lead < 0xC2   ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                           : lead < 0xF5 ? 4
                                         : 0;
  if (size == 0 || text.size() < size) return std::nullopt;
  char32_t code = lead & (0xFFU >> (size + 1));
  for (const char next : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xC0U) != 0x80U) return std::nullopt;
    code = (code << 6U) | (byte & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool is_too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (is_surrogate || is_too_long || code > 0x10FFFF) return std::nullopt;
  return Character{code, size};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

/// Commands to the terminal, ends of lines, and what turns the direction of writing, or is not
/// seen.
constexpr std::array unprintable{
    Range{0x00, 0x1F},     Range{0x7F, 0x9F},      Range{0xAD, 0xAD},     Range{0x61C, 0x61C},
    Range{0x200B, 0x200F}, Range{0x2028, 0x202E},  Range{0x2060, 0x206F}, Range{0xFEFF, 0xFEFF},
    Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE0FFF}};
constexpr std::array combining{Range{0x300, 0x36F},   Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
                               Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array wide{Range{0x1100, 0x115F}, Range{0x2E80, 0xA4CF},   Range{0xAC00, 0xD7A3},
                          Range{0xF900, 0xFAFF}, Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
                          Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

std::size_t columns_of(char32_t code) {
  if (is_in(combining, code)) return 0;
  return is_in(wide, code) ? 2 : 1;
}

std::string hex(std::uint32_t number) {
  std::array<char, 8> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), result.ptr};
}

std::string escaped_byte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return (value < 0x10 ? "\\x0" : "\\x") + hex(value);
}

std::string printed(Character character, std::string_view bytes) {
  switch (character.code) {
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\t': return "\\t";
    default: break;
  }
  if (!is_in(unprintable, character.code)) return std::string{bytes};
  if (bytes.size() == 1) return escaped_byte(bytes.front());
  return "\\u{" + hex(character.code) + "}";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_of(text);
    const std::size_t size = character ? character->bytes : 1;
    result += character ? printed(*character, text.substr(0, size)) : escaped_byte(text.front());
    text.remove_prefix(size);
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto character = first_of(text);
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
    const auto character = first_of(text.substr(bytes));
    used += character ? columns_of(character->code) : 1;
    if (used > columns - 1) break;
    bytes += character ? character->bytes : 1;
  }
  return std::string{text.substr(0, bytes)} + "…";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto character = first_of(text);
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
