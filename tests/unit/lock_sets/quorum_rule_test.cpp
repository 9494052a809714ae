#include "lock_sets/quorum_rule.hpp"

#include "support/catch.hpp"

namespace custodian::tests::quorum_rule_test {
namespace {

using namespace recipes_detail;
using namespace std::chrono_literals;
using enum LeaseState;

LeaseState state(std::vector<LeaseState> leases, std::size_t needed) {
  return state_of(leases, needed);
}

TEST_CASE("any two majorities have one in common") {
  for (std::size_t count = 1; count < 10; ++count) {
    CHECK(majority_of(count) <= count);
    CHECK(2 * majority_of(count) > count);
    CHECK(2 * (majority_of(count) - 1) <= count);
  }
  CHECK(majority_of(3) == 2);
  CHECK(majority_of(5) == 3);
}

TEST_CASE("an acquire of several has enough, may get it, or cannot any more") {
  CHECK(prospect(0, 3, 2) == Prospect::open);
  CHECK(prospect(0, 2, 2) == Prospect::open);
  CHECK(prospect(0, 1, 2) == Prospect::hopeless);
  CHECK(prospect(1, 1, 2) == Prospect::open);
  CHECK(prospect(1, 0, 2) == Prospect::hopeless);
  CHECK(prospect(2, 1, 2) == Prospect::enough);
  CHECK(prospect(2, 0, 2) == Prospect::enough);
  CHECK(prospect(2, 0, 3) == Prospect::hopeless);
}

TEST_CASE("a group is held while enough of its leases are, and lost as soon as they are not") {
  CHECK(state({held, held, held}, 3) == held);
  CHECK(state({held, suspended, held}, 3) == suspended);
  CHECK(state({held, lost, held}, 3) == lost);
  CHECK(state({held, lost, held}, 2) == held);
  CHECK(state({held, lost, suspended}, 2) == suspended);
  CHECK(state({suspended, held, suspended}, 2) == suspended);
  CHECK(state({lost, lost, held}, 2) == lost);
  CHECK(state({released, held}, 2) == lost);
  CHECK(state({}, 0) == released);
}

TEST_CASE("a group lasts as long as the most lasting of its leases that suffice") {
  CHECK(remaining_of({3s, 1s, 2s}, 3) == 1s);
  CHECK(remaining_of({3s, 1s, 2s}, 2) == 2s);
  CHECK(remaining_of({3s, 1s, 2s}, 1) == 3s);
  CHECK(remaining_of({0s, 0s, 2s}, 2) == 0s);
  CHECK(remaining_of({}, 0) == 0s);
}

}  // namespace
}  // namespace custodian::tests::quorum_rule_test
