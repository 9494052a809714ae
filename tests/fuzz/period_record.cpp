/// \file
/// The record of a job that runs once per period, which other programs may have written.

#include "periodic/period_record.hpp"

#include "fuzz.hpp"
#include "periodic/period_rules.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void period_record(std::string_view input) {
  using namespace recipes_detail;
  const auto run = decode_run(input);
  if (!run) return;
  const std::string text = encode(*run);
  const auto again = decode_run(text);
  require(again.has_value(), "what is written can be read");
  require(encode(*again) == text, "and stays the same");
  // Whatever the record contains, a decision can be made.
  for (const AfterFailure after_failure : {AfterFailure::skip, AfterFailure::retry}) {
    const PeriodTerms terms{.every = std::chrono::hours{1}, .after_failure = after_failure};
    const ServerTime now = run->begun + std::chrono::hours{5};
    const Decision decision = decide(*run, now, terms);
    require(decision.reason != NotDue::none || decision.attempt >= 1, "attempts count from one");
    require(decision.missed >= 0, "no fewer than none were missed");
  }
}

}  // namespace custodian::fuzz
