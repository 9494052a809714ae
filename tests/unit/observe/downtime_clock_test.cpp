#include "observe/downtime_clock.hpp"

#include "support/catch.hpp"

namespace custodian::tests::downtime_clock_test {
namespace {

using detail::DowntimeClock;
using namespace std::chrono_literals;
using enum ConnectionState;

constexpr DowntimeClock::Time at(std::chrono::seconds time) { return DowntimeClock::Time{time}; }

TEST_CASE("a connection is away from the beginning to the first one") {
  DowntimeClock absence{at(10s)};
  CHECK(absence.on_state(connected, at(13s)) == 3s);
}

TEST_CASE("a connection is away from its end to the next one, whatever happens in between") {
  DowntimeClock absence{at(0s)};
  static_cast<void>(absence.on_state(connected, at(1s)));
  CHECK(absence.on_state(suspended, at(5s)) == 0s);
  CHECK(absence.on_state(reconnected, at(7s)) == 2s);
  CHECK(absence.on_state(suspended, at(20s)) == 0s);
  CHECK(absence.on_state(lost, at(24s)) == 4s);
  CHECK(absence.on_state(connected, at(30s)) == 10s);
}

TEST_CASE("a session that is given up while there is a connection was not away") {
  DowntimeClock absence{at(0s)};
  static_cast<void>(absence.on_state(connected, at(1s)));
  CHECK(absence.on_state(lost, at(5s)) == 0s);
  CHECK(absence.on_state(connected, at(6s)) == 1s);
  CHECK(absence.on_state(closed, at(9s)) == 0s);
}

}  // namespace
}  // namespace custodian::tests::downtime_clock_test
