// The first and the last values that a job's record may have, and those beside them.

#include "periodic/period_record.hpp"
#include "support/catch.hpp"

namespace custodian::tests::period_record_borders_test {
namespace {

using namespace std::chrono_literals;
using recipes_detail::decode_run;
using recipes_detail::encode;

const std::string good = encode({.by = "a",
                                 .node = "n",
                                 .id = "i",
                                 .every = 1h,
                                 .due = PeriodRun::Time{},
                                 .begun = PeriodRun::Time{},
                                 .attempt = 1});

std::string with(const std::string& before, const std::string& after) {
  std::string text = good;
  const auto at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

bool is_record(const std::string& text) {
  INFO(text);
  return decode_run(text).has_value();
}

bool is_time(const std::string& time) {
  return is_record(with("due: 1970-01-01T00:00:00.000Z", "due: " + time));
}

TEST_CASE("a job's record may have the last moment of a day, and none behind it") {
  REQUIRE(is_record(good));
  CHECK(is_time("2026-12-31T23:59:59.999Z"));
  CHECK_FALSE(is_time("2026-12-31T24:00:00.000Z"));
  CHECK_FALSE(is_time("2026-12-31T00:60:00.000Z"));
  CHECK_FALSE(is_time("2026-12-31T00:00:60.000Z"));
  CHECK_FALSE(is_time("2026-13-01T00:00:00.000Z"));
  CHECK_FALSE(is_time("2026-02-30T00:00:00.000Z"));
}

TEST_CASE("a job's record has times in one form only") {
  const std::string time = "2026-12-31T23:59:59.999Z";
  for (std::size_t at = 0; at != time.size(); ++at) {
    for (const char other : {'x', '/', ':', '-', ' '}) {
      if (time[at] == other) continue;
      std::string wrong = time;
      wrong[at] = other;
      CHECK_FALSE(is_time(wrong));
    }
  }
}

TEST_CASE("a job's record may count a thousand million attempts and missed periods, and no more") {
  CHECK(is_record(with("attempt: 1", "attempt: 1000000000")));
  CHECK_FALSE(is_record(with("attempt: 1", "attempt: 1000000001")));
  CHECK(is_record(with("missed: 0", "missed: 1000000000")));
  CHECK_FALSE(is_record(with("missed: 0", "missed: 1000000001")));
}

}  // namespace
}  // namespace custodian::tests::period_record_borders_test
