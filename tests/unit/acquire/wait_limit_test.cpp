// The limit of an acquire that begins now.

#include "custodian/locks/wait_limit.hpp"

#include <chrono>

#include "custodian/deadline.hpp"
#include "support/catch.hpp"

namespace custodian::wait_limit_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("an acquire waits without limit unless it is given one", "[acquire]") {
  const WaitLimit limit = WaitLimit{}.from_now();
  REQUIRE_FALSE(limit.limited());
  REQUIRE(limit.deadline.is_never());
  REQUIRE_FALSE(limit.try_once);
}

TEST_CASE("a default deadline of an acquire is none", "[acquire]") {
  const WaitLimit limit{.deadline = Deadline{}};
  REQUIRE_FALSE(limit.limited());
  REQUIRE(limit.from_now().deadline == Deadline::never());
}

TEST_CASE("an acquire without time to wait asks once", "[acquire]") {
  for (const Deadline passed : {Deadline{0s}, Deadline{-1s}, Deadline{Deadline::Clock::now()}}) {
    const WaitLimit limit = WaitLimit{.deadline = passed}.from_now();
    REQUIRE(limit.try_once);
    REQUIRE(limit.deadline.is_never());
    REQUIRE(limit.limited());
  }
}

TEST_CASE("a deadline that is to come stays, and so does what else limits an acquire",
          "[acquire]") {
  const Deadline deadline{1h};
  const WaitLimit limit = WaitLimit{.deadline = deadline, .max_unreachable = 2s}.from_now();
  REQUIRE(limit.deadline == deadline);
  REQUIRE_FALSE(limit.try_once);
  REQUIRE(limit.max_unreachable == 2s);
  REQUIRE(WaitLimit{.try_once = true}.from_now().try_once);
  REQUIRE(WaitLimit{.max_unreachable = 2s}.limited());
}

}  // namespace
}  // namespace custodian::wait_limit_test
