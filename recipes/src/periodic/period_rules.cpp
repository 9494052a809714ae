#include "periodic/period_rules.hpp"

#include <algorithm>

namespace custodian::recipes_detail {
namespace {

using std::chrono::milliseconds;

/// How many periods `now` is after the period of a run that was due at `due`. 0: in the run's own
/// period, which begins a little before the run is due; negative: before that.
std::int64_t periods_since(ServerTime due, ServerTime now, milliseconds every) {
  const milliseconds since = now - due + early_by(every);
  const std::int64_t whole = since / every;
  return since % every < milliseconds{0} ? whole - 1 : whole;
}

/// Whether the run has used up its period.
bool counts(const PeriodRun& last, const PeriodTerms& terms) {
  switch (last.state) {
    case RunState::succeeded: return true;
    // A job that was not begun has not used up its period.
    case RunState::not_begun: return false;
    default: return terms.after_failure == AfterFailure::skip;
  }
}

}  // namespace

Decision decide(const std::optional<PeriodRun>& last, ServerTime now, const PeriodTerms& terms) {
  if (!last) return {.due = now};
  if (last->state == RunState::running) return {.reason = NotDue::is_running};
  // The leader's clock was set back, so it is unknown how much time has passed.
  if (now < last->begun) return {.reason = NotDue::clock_behind};

  const std::int64_t passed = periods_since(last->due, now, terms.every);
  const bool has_succeeded = last->state == RunState::succeeded;
  const bool has_counted = counts(*last, terms);
  if (passed <= 0) {
    if (has_counted) return {.reason = has_succeeded ? NotDue::has_run : NotDue::has_failed};
    const bool is_repeated = last->state != RunState::not_begun;
    return {
        .due = last->due, .attempt = last->attempt + (is_repeated ? 1 : 0), .missed = last->missed};
  }
  if (has_counted && now - last->begun < apart_by(terms.every)) return {.reason = NotDue::too_soon};
  // Due times keep their distance until a period passes without a call.
  const bool is_next = passed == 1;
  return {.due = is_next ? last->due + terms.every : now,
          .missed = (has_succeeded ? 0 : last->missed + 1) + (passed - 1)};
}

ServerTime next_call(const PeriodRun& last, const PeriodTerms& terms) {
  if (!counts(last, terms)) return last.begun;
  return std::max(last.due + terms.every - early_by(terms.every),
                  last.begun + apart_by(terms.every));
}

}  // namespace custodian::recipes_detail
