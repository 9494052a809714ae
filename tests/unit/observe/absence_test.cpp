#include "observe/absence.hpp"

#include "support/catch.hpp"

namespace custodian::tests {
namespace {

using detail::Absence;
using namespace std::chrono_literals;
using enum ConnectionState;

constexpr Absence::Time at(std::chrono::seconds time) { return Absence::Time{time}; }

TEST_CASE("a connection is away from the beginning to the first one") {
  Absence absence{at(10s)};
  CHECK(absence.on_state(connected, at(13s)) == 3s);
}

TEST_CASE("a connection is away from its end to the next one, whatever happens in between") {
  Absence absence{at(0s)};
  static_cast<void>(absence.on_state(connected, at(1s)));
  CHECK(absence.on_state(suspended, at(5s)) == 0s);
  CHECK(absence.on_state(reconnected, at(7s)) == 2s);
  CHECK(absence.on_state(suspended, at(20s)) == 0s);
  CHECK(absence.on_state(lost, at(24s)) == 4s);
  CHECK(absence.on_state(connected, at(30s)) == 10s);
}

TEST_CASE("a session that is given up while there is a connection was not away") {
  Absence absence{at(0s)};
  static_cast<void>(absence.on_state(connected, at(1s)));
  CHECK(absence.on_state(lost, at(5s)) == 0s);
  CHECK(absence.on_state(connected, at(6s)) == 1s);
  CHECK(absence.on_state(closed, at(9s)) == 0s);
}

}  // namespace
}  // namespace custodian::tests
