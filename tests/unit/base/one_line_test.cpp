#include "text/one_line.hpp"

#include <string>
#include <vector>

#include "base/printable.hpp"
#include "support/catch.hpp"
#include "text/in_hex.hpp"
#include "text/trimmed.hpp"

namespace custodian::tests::one_line_test {
namespace {

using detail::first_character;
using detail::in_hex;
using detail::in_one_line;
using detail::shortened;
using detail::trimmed;

/// A code point in `bytes` bytes of UTF-8, even if it is no character.
std::string in_bytes(char32_t code, std::size_t bytes) {
  if (bytes == 1) return {static_cast<char>(code)};
  std::string text;
  for (std::size_t rest = 1; rest < bytes; ++rest) {
    text.insert(text.begin(), static_cast<char>(0x80U | (code & 0x3FU)));
    code >>= 6U;
  }
  const unsigned lead = (0xFF00U >> bytes) & 0xFFU;
  return static_cast<char>(lead | static_cast<unsigned>(code)) + text;
}

TEST_CASE("every character of Unicode is read in its shortest form, and in no other") {
  std::vector<char32_t> wrong;
  for (char32_t code = 0; code <= 0x110000; ++code) {
    const std::size_t shortest = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    const bool exists = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    // Behind the character there is more text.
    const auto read = first_character(in_bytes(code, shortest) + "\x80");
    if (exists ? !read || read->code != code || read->bytes != shortest : read.has_value()) {
      wrong.push_back(code);
    }
    if (shortest < 4 && first_character(in_bytes(code, shortest + 1))) wrong.push_back(code);
  }
  CHECK(wrong.empty());
}

TEST_CASE("a character that is cut short is none") {
  for (const std::string whole : {"\u00e9", "\u20ac", "\U0001f600"}) {
    for (std::size_t size = 1; size < whole.size(); ++size) {
      CAPTURE(whole, size);
      CHECK_FALSE(first_character(whole.substr(0, size)));
      CHECK_FALSE(first_character(whole.substr(0, size) + "a"));
      CHECK_FALSE(first_character(whole.substr(0, size) + "\xc3"));
    }
    CHECK(first_character(whole));
  }
}

TEST_CASE("bytes that begin no character are none") {
  for (unsigned lead = 0x80; lead <= 0xFF; ++lead) {
    const bool begins = lead >= 0xC2 && lead <= 0xF4;
    const std::string text = static_cast<char>(lead) + std::string(4, '\xa0');
    CAPTURE(lead);
    // 0xED begins a surrogate here, and 0xF4 what is behind the last character.
    CHECK(first_character(text).has_value() == (begins && lead != 0xED && lead != 0xF4));
  }
}

TEST_CASE("the last two code points of each plane are not printed, and those before them are") {
  for (char32_t plane = 0; plane <= 0x10; ++plane) {
    if (plane == 0xE) continue;  // all of its tags are escaped
    CAPTURE(static_cast<unsigned>(plane));
    CHECK(detail::is_unprintable(plane << 16U | 0xFFFEU));
    CHECK(detail::is_unprintable(plane << 16U | 0xFFFFU));
    CHECK_FALSE(detail::is_unprintable(plane << 16U | 0xFFFDU));
  }
}

TEST_CASE("escapes of bytes have two digits, and those of characters as many as they need") {
  CHECK(in_one_line(std::string{"\x01\x0f\x10\x7f\xff", 5}) == "\\x01\\x0f\\x10\\x7f\\xff");
  CHECK(in_one_line("\u0080|\u200b|\U000e0001") == "\\u{80}|\\u{200b}|\\u{e0001}");
}

TEST_CASE("a text of the longest size stays whole, and a byte more is cut to its ends") {
  CHECK(shortened(std::string(300, 'a'), 300) == std::string(300, 'a'));
  const std::string longer = std::string(100, 'a') + std::string(101, 'b') + std::string(100, 'c');
  CHECK(shortened(longer, 300) == std::string(100, 'a') + "..." + std::string(100, 'c'));
  // The default is 1000 bytes.
  CHECK(shortened(std::string(1000, 'a')).size() == 1000);
  CHECK(shortened(std::string(1001, 'a')).size() == 203);
}

TEST_CASE("a text is cut between characters at both of its ends") {
  // The cuts are due after the byte 100, and before the last 100 bytes.
  for (std::size_t lead = 0; lead < 3; ++lead) {
    CAPTURE(lead);
    std::string text(98 + lead, 'a');
    for (int i = 0; i < 400; ++i) text += "\u20ac";
    text += std::string(97 + lead, 'z');
    const std::string cut = shortened(text);
    const auto dots = cut.find("...");
    REQUIRE(dots != std::string::npos);
    CHECK(text.starts_with(cut.substr(0, dots)));
    CHECK(text.ends_with(cut.substr(dots + 3)));
    CHECK(in_one_line(cut) == cut);
    CHECK(dots <= 100);
    CHECK(dots > 97);
    CHECK(cut.size() - dots - 3 <= 100);
    CHECK(cut.size() - dots - 3 > 97);
  }
  // Bytes without a beginning of a character are dropped to the last.
  CHECK(shortened(std::string(1001, '\x80')) == "...");
}

TEST_CASE("a text is trimmed at both ends, and not within") {
  CHECK(trimmed(" \t\r\n\v\fa b \t\r\n\v\f") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed("").empty());
  CHECK(trimmed(" \n").empty());
}

TEST_CASE("the id of a session is written in hexadecimal digits, though it is negative") {
  CHECK(in_hex(0) == "0x0");
  CHECK(in_hex(0x100000a3f2b0001) == "0x100000a3f2b0001");
  CHECK(in_hex(-1) == "0xffffffffffffffff");
}

}  // namespace
}  // namespace custodian::tests::one_line_test
