#pragma once

/// \file
/// Runs many plays of a lock in a row, counts them, and reports failures.

#include <iostream>
#include <string>

#include "lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// Runs plays, and stops after the first few failures.
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

/// Plays every fault at every request.
inline void play_faults(const Scenario& scenario) {
  Tally tally{scenario.name + ", each fault at each request"};
  const std::size_t steps = tally.play(scenario).steps;
  REQUIRE(steps > 0);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) tally.play(scenario, {{at, fault}});
  }
}

/// Plays a cancellation around every request.
inline void play_cancellations(const Scenario& scenario) {
  Tally tally{scenario.name + ", cancelled at each moment"};
  const std::size_t steps = tally.play(scenario).steps;
  Sample sample;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      tally.play(scenario, {}, Cancel{moment, at});
      // Combines the cancellation with a fault at each request, before or after it.
      for (std::size_t fault_at = 0; fault_at <= steps; ++fault_at) {
        for (const Fault& fault : all_faults()) {
          if (!sample.takes_next()) continue;
          tally.play(scenario, {{fault_at, fault}}, Cancel{moment, at});
        }
      }
    }
  }
}

/// Plays every pair of faults at every pair of requests, including requests that only the first
/// fault causes. `parity` selects the cases whose first fault is at an even or an odd request, so
/// that no case takes too long.
inline void play_pairs(const Scenario& scenario, std::size_t parity) {
  Tally tally{scenario.name + ", each pair of faults, " + (parity == 0 ? "even" : "odd") +
              " first"};
  const std::size_t steps = tests::play(scenario).steps;
  Sample sample;
  for (std::size_t first = parity; first < steps; first += 2) {
    for (const Fault& fault : all_faults()) {
      const std::size_t lengthened = tally.play(scenario, {{first, fault}}).steps;
      for (std::size_t second = first + 1; second < lengthened; ++second) {
        for (const Fault& next : all_faults()) {
          if (sample.takes_next()) tally.play(scenario, {{first, fault}, {second, next}});
        }
      }
    }
  }
}

/// Plays every fault at every request, each with the incident at every request.
inline void play_incidents(Scenario scenario) {
  Tally tally{scenario.name + ", each fault at each request"};
  const std::size_t steps = tally.play(scenario).steps;
  for (std::size_t at = 0; at < steps; ++at) {
    scenario.incident_at = at;
    tally.play(scenario);
    for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
      for (const Fault& fault : sampled(all_faults())) tally.play(scenario, {{fault_at, fault}});
    }
  }
}

inline const Scenario uncontended{.name = "uncontended"};
inline const Scenario contended{
    .name = "contended", .held = true, .incident = Incident::holder_releases};

}  // namespace custodian::tests
