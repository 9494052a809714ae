// The mutex through every pair of faults.

#include "scripted/lock_tally.hpp"

namespace custodian::tests::mutex_pairs_test {
namespace {

TEST_CASE(
    "mutex: an uncontended acquire survives every pair of faults, the first at an even request",
    "[pairs]") {
  play_pairs(uncontended, 0);
}

TEST_CASE(
    "mutex: an uncontended acquire survives every pair of faults, the first at an odd request",
    "[pairs]") {
  play_pairs(uncontended, 1);
}

TEST_CASE("mutex: a waiter survives every pair of faults", "[waiter-pairs]") {
  play_pairs(contended, 0);
  play_pairs(contended, 1);
}

}  // namespace
}  // namespace custodian::tests::mutex_pairs_test
