// The mutex through every fault at every request, every pair of faults, and a cancellation at every
// moment. Each scenario is first played without a fault, to count its requests.

#include <iostream>
#include <map>

#include "mutex_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

namespace asio = boost::asio;

namespace {

/// Plays cases, and stops at the first few that go wrong.
class Tally {
 public:
  explicit Tally(std::string name) : name_{std::move(name)} {}
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally() {
    std::cout << "  " << cases_ << " cases: " << name_ << " (" << granted_ << " granted)\n";
  }

  Verdict play(const Scenario& scenario, const Faults& faults = {},
               std::optional<Cancel> cancel = {}) {
    const Verdict verdict = tests::play(scenario, faults, cancel);
    ++cases_;
    if (verdict.granted) ++granted_;
    if (verdict.violation.empty()) return verdict;
    std::string text = scenario.name;
    for (const auto& [at, fault] : faults) {
      text += "; request " + std::to_string(at) + ": " + describe(fault);
    }
    if (cancel) {
      constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
      text += std::string{"; cancelled "} + moments[static_cast<int>(cancel->moment)] +
              std::to_string(cancel->at);
    }
    if (scenario.incident_at) text += "; incident at " + std::to_string(*scenario.incident_at);
    FAIL_CHECK(text << ": " << verdict.violation);
    if (++failures_ == 20) FAIL("and so on");
    return verdict;
  }

 private:
  const std::string name_;
  std::size_t cases_ = 0;
  std::size_t granted_ = 0;
  int failures_ = 0;
};

/// Every fault at every request.
void play_faults(const Scenario& scenario) {
  Tally tally{scenario.name + ", each fault at each request"};
  const std::size_t steps = tally.play(scenario).steps;
  REQUIRE(steps > 0);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) tally.play(scenario, {{at, fault}});
  }
}

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

/// A cancellation around every request.
void play_cancellations(const Scenario& scenario) {
  Tally tally{scenario.name + ", cancelled at each moment"};
  const std::size_t steps = tally.play(scenario).steps;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      tally.play(scenario, {}, Cancel{moment, at});
      // And a fault behind or before it.
      for (std::size_t fault_at = 0; fault_at <= steps; ++fault_at) {
        for (const Fault& fault : all_faults()) {
          tally.play(scenario, {{fault_at, fault}}, Cancel{moment, at});
        }
      }
    }
  }
}

const Scenario uncontended{.name = "uncontended"};
const Scenario contended{.name = "contended", .held = true, .incident = Incident::holder_releases};

TEST_CASE("mutex: an uncontended acquire survives every fault") { play_faults(uncontended); }

TEST_CASE("mutex: a waiter survives every fault") { play_faults(contended); }

TEST_CASE(
    "mutex: an uncontended acquire survives every pair of faults, the first at an even request") {
  play_pairs(uncontended, 0);
}

TEST_CASE(
    "mutex: an uncontended acquire survives every pair of faults, the first at an odd request") {
  play_pairs(uncontended, 1);
}

TEST_CASE("mutex: a waiter survives every pair of faults") {
  play_pairs(contended, 0);
  play_pairs(contended, 1);
}

TEST_CASE("mutex: a holder that leaves at any moment wakes the waiter, whatever fails") {
  Scenario scenario = contended;
  scenario.name = "contended, released at each request";
  Tally tally{scenario.name + ", each fault at each request"};
  const std::size_t steps = tally.play(scenario).steps;
  for (std::size_t at = 0; at < steps; ++at) {
    scenario.incident_at = at;
    tally.play(scenario);
    for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
      for (const Fault& fault : all_faults()) tally.play(scenario, {{fault_at, fault}});
    }
  }
}

TEST_CASE("mutex: who only tries gets the lock, or an answer, through every fault") {
  play_faults({.name = "try_acquire of a free lock", .face = Face::try_acquire});
  play_faults({.name = "try_acquire of a held lock",
               .face = Face::try_acquire,
               .held = true,
               .expected = {error_code{}}});
}

TEST_CASE("mutex: who is late leaves nothing behind, through every fault") {
  play_faults({.name = "timed acquire that is late",
               .face = Face::timed,
               .held = true,
               .expected = {error_code{}, Errc::deadline_exceeded}});
}

TEST_CASE("mutex: a cancelled acquire leaves a lease or nothing, at every moment") {
  play_cancellations(uncontended);
  play_cancellations(contended);
  play_cancellations({.name = "try_acquire of a held lock",
                      .face = Face::try_acquire,
                      .held = true,
                      .expected = {error_code{}}});
}

TEST_CASE("mutex: who cancels a try is told so, and not that the lock is held") {
  const Scenario held{
      .name = "try_acquire of a held lock", .face = Face::try_acquire, .held = true};
  // The first replies tell nothing of the queue yet.
  for (const std::size_t at : {0U, 1U}) {
    const Verdict verdict = play(held, {}, Cancel{CancelMoment::before_reply, at});
    CHECK(verdict.violation.empty());
    CHECK(verdict.error == asio::error::operation_aborted);
  }
}

TEST_CASE("mutex: a waiter that loses its session queues again, or says so") {
  play_faults({.name = "waiter's session expires, queues again",
               .held = true,
               .incident = Incident::own_session_expires});
  play_faults({.name = "waiter's session expires, fails",
               .held = true,
               .incident = Incident::own_session_expires,
               .requeue = RequeuePolicy::fail,
               .expected = {Errc::session_lost}});
}

TEST_CASE("mutex: nodes that an operator deletes") {
  play_faults({.name = "waiter's node deleted by an operator",
               .held = true,
               .incident = Incident::own_node_deleted,
               .expected = {Errc::node_deleted}});
  play_faults({.name = "holder's node deleted by an operator",
               .held = true,
               .incident = Incident::holders_node_deleted});
}

TEST_CASE("mutex: children that are no contenders") {
  play_faults({.name = "foreign child", .neighbours = Neighbours::foreign});
  play_faults({.name = "malformed child",
               .neighbours = Neighbours::malformed,
               .expected = {Errc::malformed_contender}});
  play_faults({.name = "sequence at its end",
               .neighbours = Neighbours::end_of_sequence,
               .expected = {Errc::sequence_exhausted}});
}

}  // namespace
}  // namespace custodian::tests
