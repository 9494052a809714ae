#include "text/duration.hpp"

#include <stdexcept>

#include "support/catch.hpp"

namespace custodian::tests::duration_test {

using custodian::cli::format_duration;
using custodian::cli::parse_duration;
using namespace std::chrono_literals;

namespace {

std::string complaint(std::string_view text) {
  try {
    static_cast<void>(parse_duration(text));
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

bool complains(std::string_view text, std::string_view why) {
  return complaint(text).find(why) != std::string::npos;
}

}  // namespace

TEST_CASE("durations are read as people write them") {
  CHECK(parse_duration("500ms") == 500ms);
  CHECK(parse_duration("30s") == 30s);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("1h30m") == 90min);
  CHECK(parse_duration("1.5s") == 1500ms);
  CHECK(parse_duration("0.25h") == 15min);
  CHECK(parse_duration("2d1ns") == 48h + 1ns);
  CHECK(parse_duration("1m0.000000001s") == 1min + 1ns);
  CHECK(parse_duration("3us") == 3us);
  CHECK(parse_duration("0") == 0s);
  CHECK(parse_duration("0s") == 0s);
}

TEST_CASE("what is no duration is refused with the reason") {
  CHECK(complains("30", "no unit"));
  CHECK(complains("1h30", "no unit"));
  CHECK(complains("", "empty"));
  CHECK(complains("s", "number is missing"));
  CHECK(complains(".5s", "number is missing"));
  CHECK(complains("1.s", "digits are missing"));
  CHECK(complains("-1s", "negative"));
  CHECK(complains("5 m", "units are"));
  CHECK(complains("5min", "units are"));
  CHECK(complains("30m1h", "greater unit comes first"));
  CHECK(complains("1s1s", "greater unit comes first"));
  CHECK(complains("1\x1b[2J", "'1\\x1b[2J'"));
  CHECK(complains("36501d", "100 years"));
  CHECK(complains("99999999999999999999d", "100 years"));
  CHECK(complains("36500d1ns", "100 years"));
  CHECK(parse_duration("36500d") == 36500 * 24h);
}

TEST_CASE("durations are written as they are read") {
  for (const auto duration : std::initializer_list<std::chrono::nanoseconds>{
           0s, 1ns, 999us, 1500us, 500ms, 30s, 1500ms, 5min, 90min, 48h + 1ns, 61s, 24h + 1s}) {
    INFO(format_duration(duration));
    CHECK(parse_duration(format_duration(duration)) == duration);
  }
  CHECK(format_duration(0s) == "0s");
  CHECK(format_duration(500ms) == "500ms");
  CHECK(format_duration(1500us) == "1500us");
  CHECK(format_duration(1500ms) == "1.5s");
  CHECK(format_duration(90min) == "1h30m");
  CHECK(format_duration(61s) == "1m1s");
  CHECK(format_duration(-5s) == "-5s");
  CHECK(format_duration(std::chrono::nanoseconds::min()) == "-106751d23h47m16.854775808s");
}

}  // namespace custodian::tests::duration_test
