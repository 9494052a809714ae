#pragma once

/// \file
/// Plays of the mutex, many in a row: counted, and reported where they go wrong.

#include <iostream>
#include <string>

#include "mutex_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

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
inline void play_faults(const Scenario& scenario) {
  Tally tally{scenario.name + ", each fault at each request"};
  const std::size_t steps = tally.play(scenario).steps;
  REQUIRE(steps > 0);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) tally.play(scenario, {{at, fault}});
  }
}

inline const Scenario uncontended{.name = "uncontended"};
inline const Scenario contended{
    .name = "contended", .held = true, .incident = Incident::holder_releases};

}  // namespace custodian::tests
