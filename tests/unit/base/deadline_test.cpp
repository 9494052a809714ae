#include "custodian/deadline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

#include "support/catch.hpp"

namespace custodian::tests::deadline_test {

using custodian::Deadline;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

/// Takes a deadline as an operation does.
Deadline given(Deadline deadline = {}) { return deadline; }

constexpr Clock::time_point noon{12h};

static_assert(std::is_nothrow_default_constructible_v<Deadline>);
static_assert(std::is_trivially_copyable_v<Deadline>);
static_assert(!std::is_convertible_v<int, Deadline>, "a number has no unit");
static_assert(!std::is_convertible_v<std::chrono::system_clock::time_point, Deadline>);
static_assert(Deadline{noon}.time_point() == noon);

}  // namespace

TEST_CASE("no deadline given means the default of the operation", "[deadline]") {
  const auto deadline = given();
  CHECK(deadline.is_default());
  CHECK_FALSE(deadline.is_never());
  CHECK_FALSE(deadline.passed());
  CHECK(deadline.remaining() == Clock::duration::max());
  CHECK(deadline.or_default(noon) == Deadline{noon});
  CHECK(deadline.or_default(Deadline::never()).is_never());
  CHECK(deadline.or_default({}).is_default());
}

TEST_CASE("a default is not put in the place of a given deadline", "[deadline]") {
  CHECK(given(noon).or_default(1s) == Deadline{noon});
  CHECK(Deadline::never().or_default(1s).is_never());
}

TEST_CASE("a duration counts from the call", "[deadline]") {
  const auto before = Clock::now();
  const auto deadline = given(5s);
  const auto after = Clock::now();
  CHECK(deadline.time_point() >= before + 5s);
  CHECK(deadline.time_point() <= after + 5s);
  CHECK_FALSE(deadline.is_default());
  CHECK_FALSE(deadline.passed(before));
  CHECK(deadline.passed(after + 5s));
}

TEST_CASE("a deadline has passed from its moment on", "[deadline]") {
  const Deadline deadline{noon};
  CHECK_FALSE(deadline.passed(noon - 1ns));
  CHECK(deadline.passed(noon));
  CHECK(deadline.passed(noon + 1ns));
  CHECK(deadline.remaining(noon - 3ms) == 3ms);
  CHECK(deadline.remaining(noon) == 0ms);
  CHECK(deadline.remaining(noon + 1h) == 0ms);
}

TEST_CASE("a duration that is not positive has passed", "[deadline]") {
  CHECK(given(0s).passed());
  CHECK(given(-1ns).passed());
  CHECK(given(-2.5s).passed());
  CHECK(given(Clock::duration::min()).passed());
  CHECK(given(std::chrono::hours::min()).passed());
  CHECK(given(std::chrono::duration<std::int64_t, std::giga>::min()).passed());
  CHECK(given(std::chrono::duration<double>{-std::numeric_limits<double>::infinity()}).passed());
  CHECK(given(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}).passed());
  CHECK(given(Clock::time_point::min()).passed());
  CHECK(given(0s).remaining() == 0ns);
}

TEST_CASE("a duration that would overflow means never", "[deadline]") {
  CHECK(given(Clock::duration::max()).is_never());
  CHECK(given(std::chrono::milliseconds::max()).is_never());
  CHECK(given(std::chrono::hours::max()).is_never());
  CHECK(given(std::chrono::duration<std::int64_t, std::giga>::max()).is_never());
  CHECK(given(std::chrono::duration<double>{1e300}).is_never());
  CHECK(given(std::chrono::duration<float>{std::numeric_limits<float>::infinity()}).is_never());
  CHECK(given(std::chrono::hours{24 * 365 * 300}).is_never());
  CHECK_FALSE(given(std::chrono::hours{24 * 365 * 200}).is_never());
}

TEST_CASE("a deadline is never earlier than asked for", "[deadline]") {
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  CHECK(given(std::chrono::time_point<Clock, Picoseconds>{Picoseconds{1500}}).time_point() ==
        Clock::time_point{2ns});
  CHECK(given(Clock::time_point{1h} + std::chrono::duration<double>{0.5}).time_point() ==
        Clock::time_point{1h + 500ms});
  CHECK(given(Clock::time_point{7ns}).time_point() == Clock::time_point{7ns});
}

TEST_CASE("never does not pass", "[deadline]") {
  constexpr auto never = Deadline::never();
  CHECK(never.is_never());
  CHECK_FALSE(never.is_default());
  CHECK_FALSE(never.passed());
  CHECK_FALSE(never.passed(Clock::time_point::max()));
  CHECK(never.remaining() == Clock::duration::max());
  CHECK(never.remaining(Clock::time_point::min()) == Clock::duration::max());
  CHECK(never.time_point() == Clock::time_point::max());
  CHECK(given(Clock::time_point::max()).is_never());
}

TEST_CASE("deadlines compare by their moment", "[deadline]") {
  const Deadline early{noon};
  const Deadline late{noon + 1s};
  CHECK(early < late);
  CHECK(late > early);
  CHECK(early == Deadline{noon});
  CHECK(early != late);
  CHECK(late < Deadline::never());
  CHECK(std::min(late, early) == early);
  CHECK(std::min(Deadline::never(), early) == early);
}

TEST_CASE("a default deadline is equal to itself only, and has no order", "[deadline]") {
  CHECK(Deadline{} == Deadline{});
  CHECK(Deadline{} != Deadline::never());
  CHECK_FALSE(Deadline{} < Deadline{noon});
  CHECK_FALSE(Deadline{} > Deadline{noon});
  CHECK_FALSE(Deadline{} < Deadline::never());
  CHECK((Deadline{} <=> Deadline{noon}) == std::partial_ordering::unordered);
  CHECK((Deadline{} <=> Deadline{}) == std::partial_ordering::equivalent);
}

}  // namespace custodian::tests::deadline_test
