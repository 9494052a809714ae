#include "guardian/countdown.hpp"

#include "support/catch.hpp"

namespace custodian::cli::countdown_test {
namespace {

using namespace std::chrono_literals;
using Due = Countdown::Due;

constexpr Countdown::Time start{100s};

}  // namespace

TEST_CASE("what is held is not due, and then a request, once, and the kill after the grace") {
  Countdown countdown;
  CHECK(countdown.due(start) == Due::nothing);
  CHECK_FALSE(countdown.next());
  countdown.hold_until(start + 2s, 1s);
  CHECK(countdown.next() == start + 2s);
  countdown.hold_until(start + 3s, 1s);
  CHECK(countdown.due(start + 2900ms) == Due::nothing);
  CHECK_FALSE(countdown.is_lost());
  CHECK(countdown.due(start + 3100ms) == Due::request);
  CHECK(countdown.is_lost());
  CHECK(countdown.next() == start + 4s);
  CHECK(countdown.due(start + 3900ms) == Due::nothing);
  CHECK(countdown.due(start + 4s) == Due::kill);
  CHECK(countdown.due(start + 5s) == Due::kill);
}

TEST_CASE("who looks late has no more time for it") {
  Countdown countdown;
  countdown.hold_until(start, 1s);
  CHECK(countdown.due(start + 900ms) == Due::request);
  CHECK(countdown.next() == start + 1s);
  Countdown much_later;
  much_later.hold_until(start, 1s);
  CHECK(much_later.due(start + 1h) == Due::kill);
}

TEST_CASE("a loss that is told counts from then, or from when it was not held any more") {
  Countdown early;
  early.hold_until(start + 10s, 1s);
  early.lose(start, 2s);
  CHECK(early.next() == start + 2s);
  Countdown late;
  late.hold_until(start, 1s);
  late.lose(start + 10s, 2s);
  CHECK(late.next() == start + 2s);
  CHECK(late.due(start + 10s) == Due::kill);
}

TEST_CASE("nothing renews what is lost, and to be told again gives no more time") {
  Countdown countdown;
  countdown.lose(start, 1s);
  CHECK(countdown.due(start) == Due::request);
  countdown.hold_until(start + 10s, 1s);
  countdown.lose(start + 500ms, 1s);
  CHECK(countdown.next() == start + 1s);
  CHECK(countdown.due(start + 1s) == Due::kill);
}

TEST_CASE("without grace it is killed and not asked") {
  Countdown countdown;
  countdown.lose(start, 0s);
  CHECK(countdown.due(start) == Due::kill);
}

}  // namespace custodian::cli::countdown_test
