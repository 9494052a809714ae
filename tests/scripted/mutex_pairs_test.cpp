// The mutex through every pair of faults.

#include "mutex_tally.hpp"

namespace custodian::tests {
namespace {

/// Every two faults at every two requests; the second as late as the first has made the run.
/// `parity`: those whose first fault is at an even or an odd request, so that no case takes too
/// long.
void play_pairs(const Scenario& scenario, std::size_t parity) {
  Tally tally{scenario.name + ", each pair of faults, " + (parity == 0 ? "even" : "odd") +
              " first"};
  const std::size_t steps = tests::play(scenario).steps;
  for (std::size_t first = parity; first < steps; first += 2) {
    for (const Fault& fault : all_faults()) {
      const std::size_t lengthened = tally.play(scenario, {{first, fault}}).steps;
      for (std::size_t second = first + 1; second < lengthened; ++second) {
        for (const Fault& next : all_faults()) {
          tally.play(scenario, {{first, fault}, {second, next}});
        }
      }
    }
  }
}

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

TEST_CASE("mutex: a waiter survives every pair of faults", "[pairs]") {
  play_pairs(contended, 0);
  play_pairs(contended, 1);
}

}  // namespace
}  // namespace custodian::tests
