#pragma once

/// \file
/// SqliteJobStore keeps the jobs in a SQLite database, a file that all instances of a machine open.
///
/// Do not use it with instances on several machines: SQLite's locks are those of the file system. A
/// database server can run the same few transactions. It would also end the transaction of a
/// process that is stopped in the middle of one; with SQLite such a process keeps all others from
/// writing until it goes on or is killed.

#include <optional>
#include <string>

#include "job_store.hpp"
#include "sqlite.hpp"

namespace job_scheduler {

class SqliteJobStore : public JobStore {
 public:
  /// Makes the file and its tables if they are not there. Throws sqlite::Error.
  explicit SqliteJobStore(const std::string& file);

  void add_jobs(int last) override;
  [[nodiscard]] int unfinished() override;
  [[nodiscard]] int refusals() override;

  void take_over(const Leader& leader) override;
  [[nodiscard]] std::optional<Attempt> begin_attempt(const Leader& leader) override;
  bool record(const Leader& leader, const Attempt& attempt, const std::string& result) override;

 private:
  /// Called within the transaction of each write. Throws StaleToken if the leader's token is too
  /// old.
  void admit(sqlite::Transaction& transaction, const Leader& leader);
  [[nodiscard]] std::optional<Leader> newest_leader() const;

  sqlite::Connection connection_;
};

}  // namespace job_scheduler
