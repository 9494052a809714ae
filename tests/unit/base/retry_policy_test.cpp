#include "custodian/retry_policy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::retry_policy_test {

using custodian::RetryAttempt;
using custodian::RetryPolicy;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

using Pause = std::optional<milliseconds>;

constexpr double almost_one = 0x1.fffffffffffffp-1;
constexpr int many = std::numeric_limits<int>::max();

RetryAttempt after(int retries, milliseconds elapsed = 0ms, double random = 0) {
  return {retries, elapsed, random};
}

}  // namespace

TEST_CASE("the policy none does not retry", "[retry]") {
  CHECK(RetryPolicy::none().pause_before(after(0)) == std::nullopt);
  CHECK(RetryPolicy::none().pause_before(after(many)) == std::nullopt);
}

TEST_CASE("n_times retries n times", "[retry]") {
  const auto policy = RetryPolicy::n_times(2, 30ms);
  CHECK(policy.pause_before(after(0)) == Pause{30ms});
  CHECK(policy.pause_before(after(1, 24h, almost_one)) == Pause{30ms});
  CHECK(policy.pause_before(after(2)) == std::nullopt);
  CHECK(policy.pause_before(after(many)) == std::nullopt);
  CHECK(RetryPolicy::n_times(1, 0ms).pause_before(after(0)) == Pause{0ms});
  CHECK(RetryPolicy::n_times(0, 1ms).pause_before(after(0)) == std::nullopt);
  CHECK(RetryPolicy::n_times(many, milliseconds::max()).pause_before(after(many - 1)) ==
        Pause{milliseconds::max()});
}

TEST_CASE("until_elapsed retries up to the limit and for the last time at the limit", "[retry]") {
  const auto policy = RetryPolicy::until_elapsed(100ms, 30ms);
  CHECK(policy.pause_before(after(0, 0ms)) == Pause{30ms});
  CHECK(policy.pause_before(after(many, 70ms)) == Pause{30ms});
  CHECK(policy.pause_before(after(3, 71ms)) == Pause{29ms});
  CHECK(policy.pause_before(after(3, 99ms)) == Pause{1ms});
  CHECK(policy.pause_before(after(4, 100ms)) == std::nullopt);
  CHECK(policy.pause_before(after(4, milliseconds::max())) == std::nullopt);
  CHECK(RetryPolicy::until_elapsed(0ms, 1ms).pause_before(after(0)) == std::nullopt);
  CHECK(RetryPolicy::until_elapsed(milliseconds::max(), milliseconds::max())
            .pause_before(after(0, 1ms)) == Pause{milliseconds::max() - 1ms});
}

TEST_CASE("forever retries for ever", "[retry]") {
  const auto policy = RetryPolicy::forever(1s);
  CHECK(policy.pause_before(after(0)) == Pause{1s});
  CHECK(policy.pause_before(after(many, milliseconds::max(), almost_one)) == Pause{1s});
}

TEST_CASE("the exponential back-off doubles its range up to the maximum", "[retry]") {
  const auto policy = RetryPolicy::exponential_backoff(100ms, 1000ms, 8);
  struct Case {
    int retries;
    milliseconds range;
  };
  const auto [retries, range] = GENERATE(Case{0, 100ms}, Case{1, 200ms}, Case{2, 400ms},
                                         Case{3, 800ms}, Case{4, 1000ms}, Case{7, 1000ms});
  CAPTURE(retries);
  CHECK(policy.pause_before(after(retries, 0ms, 0.0)) == Pause{0ms});
  CHECK(policy.pause_before(after(retries, 0ms, 0.25)) == Pause{range / 4});
  CHECK(policy.pause_before(after(retries, 24h, 0.5)) == Pause{range / 2});
  CHECK(policy.pause_before(after(retries, 0ms, almost_one)) == Pause{range - 1ms});
}

TEST_CASE("the exponential back-off ends with its retries, or never", "[retry]") {
  CHECK(RetryPolicy::exponential_backoff(1ms, 1ms, 8).pause_before(after(7)));
  CHECK_FALSE(RetryPolicy::exponential_backoff(1ms, 1ms, 8).pause_before(after(8)));
  CHECK_FALSE(RetryPolicy::exponential_backoff(1ms, 1ms, 0).pause_before(after(0)));
  CHECK(RetryPolicy::exponential_backoff(1ms, 1ms, std::nullopt)
            .pause_before(after(many, milliseconds::max())));
}

TEST_CASE("a pause does not overflow", "[retry]") {
  const auto longest = milliseconds::max();
  const auto base = GENERATE(1ms, 3ms, 1000ms, milliseconds::max() / 2, milliseconds::max());
  const auto retries = GENERATE(0, 1, 30, 31, 32, 61, 62, 63, 64, 1000, many);
  const auto random = GENERATE(0.0, 0.5, almost_one);
  CAPTURE(base.count(), retries, random);
  const auto pause = RetryPolicy::exponential_backoff(base, longest, std::nullopt)
                         .pause_before(after(retries, longest, random));
  REQUIRE(pause);
  CHECK(*pause >= 0ms);
  if (random == 0.5) {
    // The expected values were computed independently, to the precision of a double.
    const auto range =
        std::min(std::ldexp(static_cast<double>(base.count()), std::min(retries, 99)),
                 static_cast<double>(longest.count()));
    CHECK(static_cast<double>(pause->count()) >= std::floor(range / 2 * (1 - 1e-9)));
    CHECK(static_cast<double>(pause->count()) <= range / 2 * (1 + 1e-9));
  }
}

TEST_CASE("attempts out of range count as the nearest in range", "[retry]") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto policy = RetryPolicy::exponential_backoff(100ms, 1000ms, 8);
  CHECK(policy.pause_before(after(-1, 0ms, 0.5)) == Pause{50ms});
  CHECK(policy.pause_before(after(std::numeric_limits<int>::min(), 0ms, 0.5)) == Pause{50ms});
  CHECK(policy.pause_before(after(0, 0ms, -0.5)) == Pause{0ms});
  CHECK(policy.pause_before(after(0, 0ms, -infinity)) == Pause{0ms});
  CHECK(policy.pause_before(after(0, 0ms, nan)) == Pause{0ms});
  CHECK(policy.pause_before(after(0, 0ms, 1.0)) == Pause{100ms});
  CHECK(policy.pause_before(after(0, 0ms, infinity)) == Pause{100ms});
  CHECK(RetryPolicy::until_elapsed(10ms, 20ms).pause_before(after(0, milliseconds::min())) ==
        Pause{10ms});
}

TEST_CASE("the default policy is the exponential back-off with the numbers it names", "[retry]") {
  CHECK(RetryPolicy{} == RetryPolicy::exponential_backoff());
  CHECK(RetryPolicy{} == RetryPolicy::exponential_backoff(RetryPolicy::default_base,
                                                          RetryPolicy::default_max_pause,
                                                          RetryPolicy::default_max_retries));
  CHECK_FALSE(RetryPolicy{} == RetryPolicy::none());
}

TEST_CASE("the default policy takes 9 s on average and 18 s at most, as its comment says",
          "[retry]") {
  const auto total = [](double random) {
    milliseconds sum{0};
    int retries = 0;
    while (const auto pause = RetryPolicy{}.pause_before(after(retries, sum, random))) {
      sum += *pause;
      ++retries;
    }
    return sum;
  };
  CHECK(std::chrono::round<std::chrono::seconds>(total(0.5)) == 9s);
  CHECK(std::chrono::floor<std::chrono::seconds>(total(almost_one)) == 18s);
}

TEST_CASE("an unlimited policy keeps its pace and never ends", "[retry]") {
  CHECK(RetryPolicy::n_times(1, 30ms).unlimited().pause_before(after(many, 24h)) == Pause{30ms});
  CHECK(RetryPolicy::until_elapsed(10ms, 5ms).unlimited().pause_before(after(many, 24h)) ==
        Pause{5ms});
  const auto jittered = RetryPolicy::exponential_backoff(100ms, 800ms, 2);
  CHECK(jittered.unlimited().pause_before(after(2, 0ms, 0.5)) == Pause{200ms});
  CHECK(jittered.unlimited().pause_before(after(many, 24h, 0.5)) == Pause{400ms});
  // A policy without pauses gets the default pauses.
  CHECK(RetryPolicy::none().unlimited() == RetryPolicy{}.unlimited());
  CHECK(RetryPolicy::n_times(3, 0ms).unlimited() == RetryPolicy{}.unlimited());
}

TEST_CASE("jitter spreads evenly", "[retry]") {
  std::mt19937 engine{1};
  std::uniform_real_distribution<double> random;
  milliseconds sum{0};
  constexpr int draws = 10'000;
  for (int i = 0; i != draws; ++i) {
    sum += *RetryPolicy{}.pause_before(after(4, 0ms, random(engine)));
  }
  CHECK(std::abs((sum / draws - 800ms).count()) < 20);
}

TEST_CASE("bad numbers in a policy are refused by name", "[retry]") {
  struct Case {
    std::string operation;
    std::string detail;
    std::function<RetryPolicy()> make;
  };
  const auto bad = GENERATE(values<Case>({
      {"RetryPolicy::n_times", "count must not be negative, is -1",
       [] { return RetryPolicy::n_times(-1, 1ms); }},
      {"RetryPolicy::n_times", "pause must not be negative (milliseconds), is -1",
       [] { return RetryPolicy::n_times(1, -1ms); }},
      {"RetryPolicy::until_elapsed", "limit must not be negative (milliseconds), is -5",
       [] { return RetryPolicy::until_elapsed(-5ms, 1ms); }},
      {"RetryPolicy::until_elapsed", "pause must be positive (milliseconds), is 0",
       [] { return RetryPolicy::until_elapsed(5ms, 0ms); }},
      {"RetryPolicy::until_elapsed", "pause must be positive (milliseconds), is -1",
       [] { return RetryPolicy::until_elapsed(5ms, -1ms); }},
      {"RetryPolicy::forever", "pause must be positive (milliseconds), is 0",
       [] { return RetryPolicy::forever(0ms); }},
      {"RetryPolicy::forever", "pause must be positive (milliseconds), is -1",
       [] { return RetryPolicy::forever(-1ms); }},
      {"RetryPolicy::exponential_backoff", "base must be positive (milliseconds), is 0",
       [] { return RetryPolicy::exponential_backoff(0ms, 1ms); }},
      {"RetryPolicy::exponential_backoff", "base must be positive (milliseconds), is -1",
       [] { return RetryPolicy::exponential_backoff(-1ms, 1ms); }},
      {"RetryPolicy::exponential_backoff",
       "max_pause must not be less than base (milliseconds), is 99",
       [] { return RetryPolicy::exponential_backoff(100ms, 99ms); }},
      {"RetryPolicy::exponential_backoff", "max_retries must not be negative, is -1",
       [] { return RetryPolicy::exponential_backoff(1ms, 1ms, -1); }},
  }));
  check_refused(bad.make, bad.operation, bad.detail);
}

}  // namespace custodian::tests::retry_policy_test
