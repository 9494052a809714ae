#pragma once

/// \file
/// Scheduler does a leader's work: one job after another, for as long as it leads.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "job_store.hpp"

namespace job_scheduler {

/// Does a job and returns its result. When a stop is requested the leadership is over: long work
/// should check `stop`, and return nothing if it is not finished.
using Work =
    std::function<std::optional<std::string>(const Attempt& attempt, std::stop_token stop)>;

/// Called with a line of text for each event.
using Log = std::function<void(const std::string& line)>;

/// Threads: one at a time; no one else uses the store. Lifetimes: the store must outlive the
/// scheduler.
class Scheduler {
 public:
  Scheduler(JobStore& store, Work work, Log log);

  /// Works until a stop is requested, or until the store has refused a write: this leader has then
  /// been replaced, even if it was not notified. When there is no job left, waits for more. Throws
  /// what the store and the work throw.
  void lead(const Leader& leader, const std::stop_token& stop);

 private:
  void run(const Leader& leader, const Attempt& attempt, const std::stop_token& stop);

  JobStore& store_;
  const Work work_;
  const Log log_;
};

}  // namespace job_scheduler
