#include "text/printable_text.hpp"

#include "support/catch.hpp"
#include "text/screen.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace custodian::tests::printable_text_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

TEST_CASE("text that is text stays as it is") {
  for (const char* text : {"", "worker-7/4711", "Jürgen", "日本", "😀"}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("nothing in a text can command a terminal") {
  CHECK(printable("\x1b[2J") == "\\x1b[2J");
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\x0dd");
  CHECK(printable(std::string_view{"\0", 1}) == "\\x00");
  CHECK(printable("\x7f") == "\\x7f");
  // The control character CSI, as UTF-8 and as a byte.
  CHECK(printable("\xc2\x9b") == "\\u{9b}");
  CHECK(printable("\x9b") == "\\x9b");
  // A right-to-left override, and an invisible character.
  CHECK(printable("\xe2\x80\xae") == "\\u{202e}");
  CHECK(printable("\xe2\x80\x8b") == "\\u{200b}");
}

TEST_CASE("an escape cannot be forged") { CHECK(printable("\\x1b") == "\\\\x1b"); }

TEST_CASE("bytes that are no UTF-8 are shown one by one") {
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc3") == "\\xc3");           // an incomplete character
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");  // overlong
  CHECK(printable("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK_FALSE(is_utf8("a\xff"));
  CHECK(is_utf8("a\n\x1b"));
  CHECK(to_hex("\x01\xff") == "01ff");
}

TEST_CASE("the width is that on a terminal, and a text is shortened to it") {
  CHECK(width_of("Jürgen") == 6);
  CHECK(width_of("日本") == 4);
  CHECK(shortened("printer", 7) == "printer");
  CHECK(shortened("printer", 4) == "pri…");
  CHECK(shortened("日本語", 4) == "日…");
  CHECK(shortened("printer", 1) == "…");
  CHECK(shortened("printer", 0).empty());
}

TEST_CASE("a table has columns as wide as they must be") {
  const auto lines = aligned({{"#", "WHO", "NODE"}, {"1", "Jürgen", "a"}, {"10", "日本", ""}});
  CHECK(lines == std::vector<std::string>{"#   WHO     NODE", "1   Jürgen  a", "10  日本"});
}

TEST_CASE("times and ages are as exact as people want them") {
  const std::chrono::system_clock::time_point time{1'763'784'001'250ms};
  CHECK(iso_time(time) == "2025-11-22T04:00:01.250Z");
  CHECK(plain_time(time) == "2025-11-22 04:00:01Z");
  CHECK(iso_time(std::chrono::system_clock::time_point{-1ms}) == "1969-12-31T23:59:59.999Z");
  CHECK(age_text(12'900ms) == "12s");
  CHECK(age_text(185s) == "3m5s");
  CHECK(age_text(2h + 10min + 59s) == "2h10m");
  CHECK(age_text(123h + 59min) == "5d3h");
  CHECK(age_text(-5s) == "0s");
}

TEST_CASE("a picture takes the place of the one before, and is cut to the terminal") {
  std::size_t drawn = 0;
  CHECK(frame({"one", "two"}, {24, 80}, drawn) == "one\x1b[K\ntwo\x1b[K\n\x1b[J");
  CHECK(drawn == 2);
  CHECK(frame({"three"}, {24, 80}, drawn) == "\r\x1b[2Athree\x1b[K\n\x1b[J");
  CHECK(drawn == 1);
  drawn = 0;
  // The last column stays empty, since a full line would wrap. The last line is left for the
  // cursor.
  CHECK(frame({"0123456789", "b", "c", "d"}, {4, 10}, drawn) ==
        "01234567…\x1b[K\nb\x1b[K\n… and 2 …\x1b[K\n\x1b[J");
  CHECK(drawn == 3);
}

}  // namespace
}  // namespace custodian::tests::printable_text_test
