#include "kept/keep_forecast.hpp"

#include <vector>

#include "support/catch.hpp"

namespace custodian::recipes_detail::keep_forecast_test {
namespace {

/// Plays nodes that are each reused `reuses` times before another contender wants the lock. Returns
/// how many nodes in a row are not kept after each of them.
std::vector<int> skipped_after(KeepForecast& forecast, const std::vector<long>& reuses) {
  std::vector<int> rows;
  for (const long each : reuses) {
    while (!forecast.begin()) FAIL("a row was not played to its end");
    forecast.on_wanted(each);
    int skipped = 0;
    while (!forecast.keeps_next()) {
      CHECK_FALSE(forecast.begin());
      ++skipped;
    }
    rows.push_back(skipped);
  }
  return rows;
}

TEST_CASE("nodes are kept until it has not paid", "[keep_forecast]") {
  KeepForecast forecast;
  for (int i = 0; i < 3; ++i) {
    CHECK(forecast.keeps_next());
    CHECK(forecast.begin());
  }
}

TEST_CASE("keeping that never pays is tried more and more seldom", "[keep_forecast]") {
  KeepForecast forecast;
  CHECK(skipped_after(forecast, {0, 0, 0, 0, 0, 0, 0, 0}) ==
        std::vector{1, 3, 7, 15, 31, 63, 63, 63});
}

TEST_CASE("keeping that pays again is soon tried as before", "[keep_forecast]") {
  KeepForecast forecast;
  // Two holders that needed no server exactly make up for the wait of the other contender.
  CHECK(skipped_after(forecast, {0, 0, 0, 2, 0, 100, 3, 3, 3, 0}) ==
        std::vector{1, 3, 7, 0, 15, 0, 0, 0, 0, 1});
}

}  // namespace
}  // namespace custodian::recipes_detail::keep_forecast_test
