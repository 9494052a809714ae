#include "scheduler.hpp"

#include <chrono>
#include <utility>

#include "pause.hpp"

using namespace std::chrono_literals;

namespace job_scheduler {
namespace {

std::string describe(const Attempt& attempt) {
  std::string text = "job " + std::to_string(attempt.job);
  if (attempt.number == 1) return text;
  text += " (attempt " + std::to_string(attempt.number) + ", the ";
  text += attempt.number == 2 ? "first" : "last";
  return text + " by " + attempt.previous_leader + " did not end)";
}

}  // namespace

Scheduler::Scheduler(JobStore& store, Work work, Log log)
    : store_{store}, work_{std::move(work)}, log_{std::move(log)} {}

void Scheduler::lead(const Leader& leader, const std::stop_token& stop) {
  try {
    // take_over() comes before all else: from then on the store refuses the writes of earlier
    // leaders.
    store_.take_over(leader);
    log_("took over with token " + to_string(leader.token));
    while (!stop.stop_requested()) {
      if (const auto attempt = store_.begin_attempt(leader)) {
        run(leader, *attempt, stop);
      } else {
        pause(200ms, stop);
      }
    }
  } catch (const StaleToken& refusal) {
    log_(std::string{"refused: "} + refusal.what());
    // A leader that is refused without having been asked to stop has a wrong token (see
    // --fencing-epoch). Such a leader would be elected and refused again and again; the pause
    // limits how often.
    pause(1s, stop);
  }
}

void Scheduler::run(const Leader& leader, const Attempt& attempt, const std::stop_token& stop) {
  log_("running " + describe(attempt));
  const std::optional<std::string> result = work_(attempt, stop);
  if (!result) {
    log_("gave up job " + std::to_string(attempt.job));
    return;
  }
  // `stop` is not checked here: only the store knows whether another leader has taken over.
  store_.record(leader, attempt, *result);
  log_("recorded job " + std::to_string(attempt.job));
}

}  // namespace job_scheduler
