#include "one_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace custodian::detail {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Of Unicode 15: the categories Cc, Cf, Zl and Zp, the tags, the letters without a glyph, and the
/// noncharacters U+FDD0 to U+FDEF; is_unprintable() knows the other noncharacters.
constexpr std::array unprintable{
    Range{0x0, 0x1F},        Range{0x7F, 0x9F},       Range{0xAD, 0xAD},
    Range{0x34F, 0x34F},     Range{0x600, 0x605},     Range{0x61C, 0x61C},
    Range{0x6DD, 0x6DD},     Range{0x70F, 0x70F},     Range{0x890, 0x891},
    Range{0x8E2, 0x8E2},     Range{0x115F, 0x1160},   Range{0x17B4, 0x17B5},
    Range{0x180E, 0x180E},   Range{0x200B, 0x200F},   Range{0x2028, 0x202E},
    Range{0x2060, 0x206F},   Range{0x3164, 0x3164},   Range{0xFDD0, 0xFDEF},
    Range{0xFEFF, 0xFEFF},   Range{0xFFA0, 0xFFA0},   Range{0xFFF9, 0xFFFB},
    Range{0x110BD, 0x110BD}, Range{0x110CD, 0x110CD}, Range{0x13430, 0x1343F},
    Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF}};

std::string hex(std::uint32_t number) {
  std::array<char, 8> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), result.ptr};
}

std::string escaped_byte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return (value < 0x10 ? "\\x0" : "\\x") + hex(value);
}

std::string escape_of(Character character) {
  if (character.code == '\n') return "\\n";
  if (character.code == '\t') return "\\t";
  if (character.bytes == 1) return escaped_byte(static_cast<char>(character.code));
  return "\\u{" + hex(character.code) + "}";
}

}  // namespace

std::optional<Character> first_character(std::string_view text) {
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

bool is_unprintable(char32_t code) noexcept {
  // The last two code points of each plane are noncharacters.
  if ((code & 0xFFFEU) == 0xFFFEU) return true;
  return std::ranges::any_of(unprintable, [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

std::string in_one_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    const std::size_t size = character ? character->bytes : 1;
    if (!character) {
      result += escaped_byte(text.front());
    } else if (is_unprintable(character->code)) {
      result += escape_of(*character);
    } else {
      result += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace custodian::detail
