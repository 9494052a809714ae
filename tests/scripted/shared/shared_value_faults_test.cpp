// A shared count with a fault at each request: each operation ends with the right value or a true
// error, and leaves nothing behind.

#include <algorithm>

#include "scripted/plays.hpp"
#include "scripted/shared/shared_value_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::shared_value_faults_test {
namespace {

/// Plays cases, counts them, and stops when too many go wrong.
class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const CountCase& played) {
    const CountVerdict verdict = tests::play(played);
    add(verdict.violation, [&] { return describe(played); });
    return verdict.steps;
  }
};

std::vector<CountCase> all_acts() {
  std::vector<CountCase> all;
  for (const CountAct act : {CountAct::load, CountAct::store, CountAct::exchange,
                             CountAct::stale_exchange, CountAct::wait}) {
    for (const bool node_exists : {true, false}) {
      all.push_back({.act = act, .node_exists = node_exists});
    }
  }
  return all;
}

/// Returns the number of requests that an operation sends without a fault.
std::size_t undisturbed_steps(const CountCase& played) {
  // The node and its two parents are missing.
  if (!played.node_exists) return 7;
  return played.act == CountAct::stale_exchange || played.act == CountAct::wait ? 2 : 1;
}

TEST_CASE("shared count: every operation survives every fault, or says what it does not know",
          "[shared]") {
  Tally tally{"one fault"};
  for (CountCase each : all_acts()) {
    const std::size_t steps = tally.play(each);
    INFO(describe(each));
    CHECK(steps == undisturbed_steps(each));
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        each.faults = {{at, fault}};
        tally.play(each);
      }
    }
  }
}

/// Plays each fault with another one at one of the next two requests.
void play_pairs(CountAct act) {
  Tally tally{"two faults"};
  Sample sample;
  for (const bool node_exists : {true, false}) {
    // Where there is no node an exchange only reads.
    const bool exchanges = act == CountAct::exchange || act == CountAct::stale_exchange;
    if (exchanges && !node_exists) continue;
    CountCase each{.act = act, .node_exists = node_exists};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        each.faults = {{at, fault}};
        const std::size_t longer = tally.play(each);
        for (std::size_t next = at + 1; next < std::min(longer, at + 3); ++next) {
          for (const Fault& another : all_faults()) {
            if (!sample.takes_next()) continue;
            each.faults = {{at, fault}, {next, another}};
            tally.play(each);
          }
        }
      }
    }
  }
}

// Each operation has a test case of its own, since each takes long.
TEST_CASE("shared count: a load survives every pair of faults", "[shared]") {
  play_pairs(CountAct::load);
}
TEST_CASE("shared count: a store survives every pair of faults", "[shared]") {
  play_pairs(CountAct::store);
}
TEST_CASE("shared count: an exchange survives every pair of faults", "[shared]") {
  play_pairs(CountAct::exchange);
}
TEST_CASE("shared count: a stale exchange survives every pair of faults", "[shared]") {
  play_pairs(CountAct::stale_exchange);
}
TEST_CASE("shared count: a wait survives every pair of faults", "[shared]") {
  play_pairs(CountAct::wait);
}

TEST_CASE("shared count: an operation that is not retried is honest about it", "[shared]") {
  Tally tally{"no retries"};
  for (CountCase each : all_acts()) {
    each.options.retry = RetryPolicy::none();
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        each.faults = {{at, fault}};
        tally.play(each);
      }
    }
  }
}

TEST_CASE("shared count: a cancelled operation ends, at every moment", "[shared]") {
  Tally tally{"cancelled"};
  for (CountCase each : all_acts()) {
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const CountCancelMoment moment :
           {CountCancelMoment::request_sent, CountCancelMoment::before_reply,
            CountCancelMoment::after_reply}) {
        each.cancel = CountCancel{moment, at};
        tally.play(each);
      }
    }
  }
}

TEST_CASE("shared count: a node that is deleted in between is no error", "[shared]") {
  Tally tally{"deleted"};
  for (CountCase each : all_acts()) {
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      each.deleted_at = at;
      tally.play(each);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::shared_value_faults_test
