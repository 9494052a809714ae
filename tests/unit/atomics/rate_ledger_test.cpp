#include "atomics/rate_ledger.hpp"

#include <limits>
#include <random>

#include "support/catch.hpp"

namespace custodian::tests::rate_ledger_test {
namespace {

using namespace std::chrono_literals;
using namespace recipes_detail;
using std::chrono::nanoseconds;

constexpr auto burst = nanoseconds{1s};

Stored at(std::chrono::milliseconds time, std::string bytes, std::int64_t epoch = 5) {
  return Stored{{std::move(bytes), 1, (epoch << 32) + 7},
                std::chrono::system_clock::time_point{time}};
}

TEST_CASE("a rate limiter's entry is text, and everything else is refused") {
  const RateEntry entry{.cost = 100ms, .credit = -250ms, .since = 1'764'150'000'123ms, .epoch = 5};
  CHECK(encode(entry) == "100000000 -250000000 1764150000123 5");
  CHECK(decode_rate_entry(encode(entry)) == entry);
  for (const char* bad : {"", " ", "1", "1 2 3", "1 2 3 4 ", "1 2 3 4 5", "1  2 3 4", " 1 2 3 4",
                          "a 2 3 4", "1 2 3 4x", "+1 2 3 4", "-1 2 3 4",
                          "1 2 3 99999999999999999999", "1 9223372036854775807 3 4",
                          "9223372036854775807 2 3 4", "1 2 -9223372036854775808 4", "1,2,3,4"}) {
    INFO(bad);
    CHECK_FALSE(decode_rate_entry(bad));
  }
}

TEST_CASE("credit is the time since the write before, and no more than a burst") {
  const RateEntry entry{.credit = 0ms, .since = 1000ms, .epoch = 5};
  CHECK(credit_at(entry, at(1000ms, ""), burst) == 0ms);
  CHECK(credit_at(entry, at(1250ms, ""), burst) == 250ms);
  CHECK(credit_at(entry, at(9000ms, ""), burst) == burst);
  const RateEntry in_debt{.credit = -3s, .since = 1000ms, .epoch = 5};
  CHECK(credit_at(in_debt, at(2000ms, ""), burst) == -2s);
  CHECK(credit_at(in_debt, at(100'000ms, ""), burst) == burst);
}

TEST_CASE("no time counts that no single clock has measured") {
  const RateEntry entry{.credit = 100ms, .since = 5000ms, .epoch = 5};
  // Another leader, whose clock may be another one.
  CHECK(credit_at(entry, at(6000ms, "", 6), burst) == 99ms);
  // A clock that was set back.
  CHECK(credit_at(entry, at(4000ms, ""), burst) == 99ms);
  // Times as far from each other as can be.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const RateEntry long_ago{
      .credit = -nanoseconds{1h}, .since = std::chrono::milliseconds{-most / 2}, .epoch = 5};
  CHECK(credit_at(long_ago, at(1000ms, ""), burst) == burst);
}

TEST_CASE("an entry takes its cost from what the entry before has left") {
  const auto first = next_entry(at(1000ms, ""), 300ms, burst);
  CHECK(first == RateEntry{.cost = 300ms, .credit = 0ms, .since = 1000ms, .epoch = 5});
  // It was written at 1100: 100 ms had passed, and it has taken 300.
  const auto second = next_entry(at(1100ms, encode(*first)), 50ms, burst);
  CHECK(second == RateEntry{.cost = 50ms, .credit = -200ms, .since = 1100ms, .epoch = 5});
  const auto third = next_entry(at(9000ms, encode(*second)), 50ms, burst);
  CHECK(third == RateEntry{.cost = 50ms, .credit = 950ms, .since = 9000ms, .epoch = 5});
  CHECK_FALSE(next_entry(at(9000ms, "something else"), 50ms, burst));
}

TEST_CASE("a debt that nobody lives to see paid is written as one that can be read") {
  constexpr auto hundred_years = std::chrono::duration_cast<nanoseconds>(24h * 36'525);
  auto entry = next_entry(at(1000ms, ""), hundred_years, burst);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(entry);
    CHECK(decode_rate_entry(encode(*entry)) == entry);
    entry = next_entry(at(1000ms, encode(*entry)), hundred_years, burst);
  }
  CHECK(entry->credit < -hundred_years);
}

TEST_CASE("a permit is due in time if the credit and the patience reach to it") {
  constexpr nanoseconds none{0};
  CHECK(is_due_within(none, 0ms, none));
  CHECK(is_due_within(none, 20ms, 20ms));
  CHECK_FALSE(is_due_within(none, 19ms, 20ms));
  CHECK_FALSE(is_due_within(none, -1ns, none));
  CHECK(is_due_within(5ms, -3ms, 2ms));
  CHECK_FALSE(is_due_within(5ms, -3ms, 3ms));
  constexpr std::int64_t longest = std::int64_t{1} << 62;
  CHECK(is_due_within(nanoseconds::max(), nanoseconds{-longest}, nanoseconds{24h}));
  CHECK_FALSE(is_due_within(none, nanoseconds{-longest}, nanoseconds{24h}));
}

TEST_CASE("writes at any times never take more than the time between them, but for a millisecond") {
  std::mt19937 random{7};
  for (const nanoseconds saved : {nanoseconds{0}, nanoseconds{20ms}, nanoseconds{1s}}) {
    for (int run = 0; run < 100; ++run) {
      // Servers note whole milliseconds.
      nanoseconds now = 1'000'000ms;
      const nanoseconds start = now;
      const auto noted = [&] { return std::chrono::floor<std::chrono::milliseconds>(now); };
      Stored stored = at(noted(), "");
      nanoseconds taken{0};
      std::int64_t epoch = 5;
      for (int i = 0; i < 300; ++i) {
        const nanoseconds cost{10'000 * (1 + static_cast<std::int64_t>(random() % 2000))};
        const auto entry = next_entry(stored, cost, saved);
        REQUIRE(entry);
        now += nanoseconds{1000 * static_cast<std::int64_t>(random() % 20'000)};
        if (random() % 20 == 0) ++epoch;
        stored = at(noted(), encode(*entry), epoch);
        taken += cost;
        // The last permit of this write is due when the time has passed that is missing.
        const nanoseconds due = std::max(nanoseconds{0}, cost - credit_at(*entry, stored, saved));
        CHECK(taken <= (now - start) + due + 1ms);
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::rate_ledger_test
