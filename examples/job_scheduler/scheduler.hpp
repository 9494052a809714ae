#pragma once

/// \file
/// Scheduler does a leader's work: one job after another, for as long as it leads.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "job_store.hpp"

namespace job_scheduler {

/// Does a job and returns its result. A stop is requested when the leadership is over: long work
/// should check `stop`, and return nothing if it is not finished.
using Work =
    std::function<std::optional<std::string>(const Attempt& attempt, std::stop_token stop)>;

/// Called with a line of text for each event.
using Log = std::function<void(const std::string& line)>;

/// Threads: one at a time. Nothing else may use the store at the same time, and the store must
/// outlive the scheduler.
class Scheduler {
 public:
  Scheduler(JobStore& store, Work work, Log log);

  /// Runs jobs until a stop is requested, or until the store refuses a write: another leader has
  /// then taken over, even if this one was not notified. Waits for more jobs when there are none
  /// left. Throws what the store and the work throw.
  void lead(const Leader& leader, const std::stop_token& stop);

 private:
  void run(const Leader& leader, const Attempt& attempt, const std::stop_token& stop);

  JobStore& store_;
  const Work work_;
  const Log log_;
};

}  // namespace job_scheduler
