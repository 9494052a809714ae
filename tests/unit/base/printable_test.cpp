#include "base/printable.hpp"

#include <string>

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::tests::printable_test {

using custodian::detail::first_character;
using custodian::detail::in_one_line;
using custodian::detail::printable;
using namespace std::string_literals;

namespace {

/// A code point in `bytes` bytes of UTF-8, even if that is too long or no character has it.
std::string bytes_of(char32_t code, int bytes) {
  if (bytes == 1) return {static_cast<char>(code)};
  std::string text;
  for (int rest = bytes - 1; rest > 0; --rest) {
    text.insert(text.begin(), static_cast<char>(0x80U | (code & 0x3FU)));
    code >>= 6U;
  }
  const auto lead = static_cast<unsigned>(0xFFU << (8U - static_cast<unsigned>(bytes)));
  return static_cast<char>((lead & 0xFFU) | code) + text;
}

std::string utf8(char32_t code) {
  return bytes_of(code, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
}

bool is_escape(const std::string& text) {
  return text.starts_with("\\u{") && text.ends_with("}") &&
         text.find_first_not_of("0123456789abcdef", 3) == text.size() - 1;
}

}  // namespace

TEST_CASE("what would cut a message short or break its line is written as an escape",
          "[printable]") {
  CHECK(printable("") == "");
  CHECK(printable("/a b/\u00e9~") == "/a b/\u00e9~");
  CHECK(printable("a\0b"s) == "a\\x00b");
  CHECK(printable("\n\t\x1b\x1f\x7f") == "\\n\\t\\x1b\\x1f\\x7f");
  CHECK(printable("\"\\") == "\\\"\\\\");
  CHECK(in_one_line("\"\\\n") == "\"\\\\n");
}

TEST_CASE("each control character is an escape, the second set of them as well", "[printable]") {
  for (char32_t code = 0; code < 0x20; ++code) {
    INFO(static_cast<unsigned>(code));
    const std::string shown = in_one_line(utf8(code));
    CHECK((shown.size() == 4 || shown == "\\n" || shown == "\\t"));
    CHECK(shown.front() == '\\');
  }
  CHECK(in_one_line("\x7f") == "\\x7f");
  for (char32_t code = 0x80; code < 0xA0; ++code) {
    INFO(static_cast<unsigned>(code));
    CHECK(is_escape(in_one_line(utf8(code))));
    // Even the single byte is a control character, for an xterm without UTF-8.
    CHECK(in_one_line(std::string{static_cast<char>(code)}).starts_with("\\x"));
  }
  CHECK(in_one_line("\xc2\x9b"
                    "2J") == "\\u{9b}2J");
}

TEST_CASE("what turns the direction of writing, or is not seen, is an escape", "[printable]") {
  // These are bidirectional overrides, embeddings, isolates and marks; zero-width characters and
  // joiners; line and paragraph separators; the soft hyphen, fillers, interlinear marks and tags;
  // and noncharacters.
  for (const char32_t code :
       {U'\u202A',     U'\u202B',     U'\u202C',     U'\u202D', U'\u202E',     U'\u2066',
        U'\u2067',     U'\u2068',     U'\u2069',     U'\u200E', U'\u200F',     U'\u061C',
        U'\u200B',     U'\u200C',     U'\u200D',     U'\u2060', U'\u2064',     U'\u180E',
        U'\uFEFF',     U'\u2028',     U'\u2029',     U'\u00AD', U'\u034F',     U'\u115F',
        U'\u3164',     U'\uFFA0',     U'\uFFF9',     U'\uFFFB', U'\U000E0001', U'\U000E0020',
        U'\U000E007F', U'\U000E0100', U'\U0001D173', U'\uFDD0', U'\uFFFF',     U'\U0010FFFE'}) {
    INFO(std::hex << static_cast<unsigned>(code));
    CHECK(is_escape(in_one_line(utf8(code))));
  }
  CHECK(in_one_line("see\u202egpj.eruces-ton") == "see\\u{202e}gpj.eruces-ton");
}

TEST_CASE("letters of every language stay as they are", "[printable]") {
  for (const char* text : {"Jürgen", "Ελένη", "Борис", "יעל", "ليلى", "नमस्ते", "ไทย", "日本語",
                           "한국어", "ሰላም", "Ślązak", "naïve — “quoted” €5", "😀"}) {
    CHECK(in_one_line(text) == text);
  }
}

TEST_CASE("bytes that are no UTF-8 are escaped one by one", "[printable]") {
  CHECK(in_one_line("\xff\xfe") == "\\xff\\xfe");
  CHECK(in_one_line("\xc3") == "\\xc3");
  CHECK(in_one_line("a\xe2\x80") == "a\\xe2\\x80");
  CHECK(in_one_line("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(in_one_line("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
  // Overlong encodings: a lenient decoder would see the ASCII character.
  for (char32_t code = 0; code < 0x80; ++code) {
    for (const int bytes : {2, 3, 4}) {
      const std::string overlong = bytes_of(code, bytes);
      INFO(static_cast<unsigned>(code) << " in " << bytes);
      CHECK_FALSE(first_character(overlong));
      CHECK(in_one_line(overlong).size() == 4 * overlong.size());
    }
  }
}

TEST_CASE("every byte, and every pair of bytes, comes out as one line of UTF-8 without a control",
          "[printable]") {
  std::size_t bad = 0;
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string shown =
          in_one_line(std::string{static_cast<char>(first), static_cast<char>(second)});
      for (std::string_view rest = shown; !rest.empty();) {
        const auto character = first_character(rest);
        if (!character || custodian::detail::is_unprintable(character->code)) ++bad;
        rest.remove_prefix(character ? character->bytes : 1);
      }
    }
  }
  CHECK(bad == 0);
}

TEST_CASE("whatever an error is told, it says in one line and escapes but once", "[printable]") {
  using custodian::Errc;
  using custodian::Error;
  const std::string said =
      Error{Errc::not_connected, "get", "/a\nb", "no \x1b[2J\n of " + printable("\\\n")}.what();
  CHECK(said.starts_with(R"(get /a\nb (no \x1b[2J\n of \\\n): )"));
  const std::string of_others = Error{Errc::lock_lost, "acquire", "/a\u202eb",
                                      "\xc2\x9b"
                                      "2J \u202e is ahead"}
                                    .what();
  CHECK(of_others.starts_with(R"(acquire /a\u{202e}b (\u{9b}2J \u{202e} is ahead): )"));
}

TEST_CASE("a path that is longer than people read is cut in the middle", "[printable]") {
  using custodian::detail::shortened;
  const std::string short_one(1000, 'a');
  CHECK(shortened(short_one) == short_one);
  const std::string cut = shortened("/begin" + std::string(1'000'000, 'a') + "end");
  CHECK(cut.size() == 203);
  CHECK(cut.starts_with("/begin"));
  CHECK(cut.ends_with("end"));
  // The text is not cut within a character.
  std::string umlauts;
  while (umlauts.size() < 2001) umlauts += umlauts.empty() ? "/" : "\u00e4";
  const std::string of_umlauts = shortened(umlauts);
  CHECK(of_umlauts.substr(0, 102) == "/" + umlauts.substr(1, 98) + "...");
}

}  // namespace custodian::tests::printable_test
