#include "session/server_time.hpp"

#include <limits>

#include "support/catch.hpp"

namespace custodian::tests::server_time_test {
namespace {

using detail::to_time;
using Clock = std::chrono::system_clock;
using namespace std::chrono_literals;

TEST_CASE("a server's time is the clock's") {
  CHECK(to_time(0) == Clock::time_point{});
  CHECK(to_time(1'790'000'000'123) == Clock::time_point{1'790'000'000'123ms});
  CHECK(to_time(-1) == Clock::time_point{-1ms});
}

TEST_CASE("a time that no clock can count is as far as one can") {
  constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(to_time(greatest) > Clock::time_point{Clock::duration::max() - 3s});
  CHECK(to_time(least) < Clock::time_point{Clock::duration::min() + 3s});
  // A program that prints the time rounds it in these ways, which must not overflow.
  CHECK(std::chrono::floor<std::chrono::seconds>(to_time(least)) <= to_time(least));
  CHECK(std::chrono::ceil<std::chrono::seconds>(to_time(greatest)) >= to_time(greatest));
}

}  // namespace
}  // namespace custodian::tests::server_time_test
