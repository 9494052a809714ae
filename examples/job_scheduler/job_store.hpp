#pragma once

/// \file
/// JobStore is what a scheduler needs of a database. One rule makes it safe: a store believes the
/// leader with the greatest fencing token, and no other.
///
/// A leader that was stopped for longer than its session lasts does not know that it has been
/// replaced, and goes on where it stopped. Nothing can prevent that, but a store can prevent its
/// writes: every write of a leader carries the leader's token, and the store refuses a token that
/// is smaller than the greatest it has seen. The comparison and the write must be one transaction,
/// or the next leader could come in between.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "custodian/lease/fencing_token.hpp"

namespace job_scheduler {

struct Leader {
  std::string id{};
  custodian::FencingToken token{};
};

/// One run of a job. A job whose leader died during an attempt gets another attempt.
struct Attempt {
  std::int64_t job = 0;
  int number = 1;                 ///< counts the attempts of this job, from 1
  std::string previous_leader{};  ///< the leader whose attempt did not end; empty if this attempt
                                  ///< is the first
};

/// Thrown when a write is refused because another leader has taken over. The caller does not lead
/// any more.
class StaleToken : public std::runtime_error {
 public:
  StaleToken(const Leader& leader, const Leader& successor)
      : std::runtime_error{"stale token " + to_string(leader.token) + ", " + successor.id +
                           " came with token " + to_string(successor.token)} {}
};

/// Threads: one at a time. A function that takes a leader may throw StaleToken; it has then only
/// counted the refusal. All functions throw if the database cannot be used.
class JobStore {
 public:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  virtual ~JobStore() = default;

  /// Adds the jobs from 1 to `last` that the store does not have yet.
  virtual void add_jobs(int last) = 0;
  /// The number of jobs without a result.
  [[nodiscard]] virtual int unfinished() = 0;
  /// The number of refused writes, of all leaders, since the store was made.
  [[nodiscard]] virtual int refusals() = 0;

  /// Makes the store refuse every leader with a smaller token from now on.
  virtual void take_over(const Leader& leader) = 0;
  /// Records that the leader begins the first job without a result. Returns nothing if all jobs
  /// have a result.
  [[nodiscard]] virtual std::optional<Attempt> begin_attempt(const Leader& leader) = 0;
  /// Records the end of the attempt, and the job's result. If the job already has a result, returns
  /// false and records neither.
  virtual bool record(const Leader& leader, const Attempt& attempt, const std::string& result) = 0;
};

}  // namespace job_scheduler
