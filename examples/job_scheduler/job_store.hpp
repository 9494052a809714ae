#pragma once

/// \file
/// JobStore is what a scheduler needs of a database. One rule makes it safe: a store believes the
/// leader with the greatest fencing token, and no other.
///
/// A leader that was stopped for longer than its session lasts does not know that it has been
/// replaced, and goes on where it was. Nothing can prevent that, but a store can prevent its
/// writes: every write of a leader carries its token, and a store refuses one that is smaller than
/// the greatest it has seen. The comparison and the write must be one transaction, or else the next
/// leader could come in between.

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

/// One run of a job. A job whose leader died in the middle of it has another attempt after that.
struct Attempt {
  std::int64_t job = 0;
  int number = 1;                 ///< from 1, of this job
  std::string previous_leader{};  ///< whose attempt did not end; empty if this is the first
};

/// A write was refused: another one leads, or has led, since. The caller is no leader any more.
class StaleToken : public std::runtime_error {
 public:
  StaleToken(const Leader& leader, const Leader& successor)
      : std::runtime_error{"stale token " + to_string(leader.token) + ", " + successor.id +
                           " came with token " + to_string(successor.token)} {}
};

/// Threads: one at a time. Functions that take a leader throw StaleToken, and then have changed
/// nothing but the count of refusals; all of them throw when the database cannot be used.
class JobStore {
 public:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  virtual ~JobStore() = default;

  /// Adds the jobs from 1 to `last` that are not there.
  virtual void add_jobs(int last) = 0;
  /// Jobs without a result.
  [[nodiscard]] virtual int unfinished() = 0;
  /// Writes that were refused, of all leaders, since the store was made.
  [[nodiscard]] virtual int refusals() = 0;

  /// From now on every leader with a smaller token is refused.
  virtual void take_over(const Leader& leader) = 0;
  /// Notes that the leader begins with the first job that has no result; nothing if all have one.
  [[nodiscard]] virtual std::optional<Attempt> begin_attempt(const Leader& leader) = 0;
  /// Notes the end of the attempt, and the job's result. A job has one result: false if it has one
  /// already, which stays as it is.
  virtual bool record(const Leader& leader, const Attempt& attempt, const std::string& result) = 0;
};

}  // namespace job_scheduler
