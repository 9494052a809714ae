#include "sqlite_job_store.hpp"

#include "boot_clock.hpp"

using namespace std::chrono_literals;

namespace job_scheduler {
namespace {

using sqlite::Statement;
using sqlite::Transaction;

/// The times are nanoseconds of the boot clock.
constexpr const char* tables = R"(
  CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY);
  -- Who has led. The last of them is whom the store believes.
  CREATE TABLE IF NOT EXISTS terms (
    epoch INTEGER NOT NULL,
    token INTEGER NOT NULL,
    leader TEXT NOT NULL,
    began INTEGER NOT NULL,
    PRIMARY KEY (epoch, token));
  CREATE TABLE IF NOT EXISTS attempts (
    job INTEGER NOT NULL REFERENCES jobs,
    number INTEGER NOT NULL,
    leader TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    token INTEGER NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER,
    PRIMARY KEY (job, number));
  CREATE TABLE IF NOT EXISTS results (
    job INTEGER PRIMARY KEY REFERENCES jobs,
    attempt INTEGER NOT NULL,
    result TEXT NOT NULL,
    FOREIGN KEY (job, attempt) REFERENCES attempts);
  CREATE TABLE IF NOT EXISTS refusals (
    leader TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    token INTEGER NOT NULL,
    at INTEGER NOT NULL);
)";

std::int64_t now() { return boot_time().count(); }

}  // namespace

SqliteJobStore::SqliteJobStore(const std::string& file) : connection_{file, 10s} {
  connection_.use_write_ahead_log();
  // With FULL a committed transaction survives a power failure.
  connection_.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  Transaction transaction{connection_};
  connection_.execute(tables);
  transaction.commit();
}

void SqliteJobStore::add_jobs(int last) {
  Transaction transaction{connection_};
  for (int id = 1; id <= last; ++id)
    sqlite::run(connection_, "INSERT OR IGNORE INTO jobs (id) VALUES (?)", id);
  transaction.commit();
}

int SqliteJobStore::unfinished() {
  Statement count{connection_,
                  "SELECT count(*) FROM jobs WHERE id NOT IN (SELECT job FROM results)"};
  count.step();
  return static_cast<int>(count.integer(0));
}

int SqliteJobStore::refusals() {
  Statement count{connection_, "SELECT count(*) FROM refusals"};
  count.step();
  return static_cast<int>(count.integer(0));
}

void SqliteJobStore::take_over(const Leader& leader) {
  Transaction transaction{connection_};
  admit(transaction, leader);
  transaction.commit();
}

std::optional<Attempt> SqliteJobStore::begin_attempt(const Leader& leader) {
  Transaction transaction{connection_};
  admit(transaction, leader);
  Statement job{
      connection_,
      "SELECT id FROM jobs WHERE id NOT IN (SELECT job FROM results) ORDER BY id LIMIT 1"};
  if (!job.step()) {
    transaction.commit();
    return std::nullopt;
  }

  Attempt attempt{.job = job.integer(0)};
  Statement previous{
      connection_, "SELECT number, leader FROM attempts WHERE job = ? ORDER BY number DESC LIMIT 1",
      attempt.job};
  if (previous.step()) {
    attempt.number = static_cast<int>(previous.integer(0)) + 1;
    attempt.previous_leader = previous.text(1);
  }
  sqlite::run(connection_,
              "INSERT INTO attempts (job, number, leader, epoch, token, began)"
              " VALUES (?, ?, ?, ?, ?, ?)",
              attempt.job, attempt.number, leader.id, leader.token.epoch, leader.token.value,
              now());
  transaction.commit();
  return attempt;
}

bool SqliteJobStore::record(const Leader& leader, const Attempt& attempt,
                            const std::string& result) {
  Transaction transaction{connection_};
  admit(transaction, leader);
  sqlite::run(connection_,
              "INSERT INTO results (job, attempt, result) VALUES (?, ?, ?)"
              " ON CONFLICT (job) DO NOTHING",
              attempt.job, attempt.number, result);
  const bool first = connection_.changes() == 1;
  if (first)
    sqlite::run(connection_, "UPDATE attempts SET ended = ? WHERE job = ? AND number = ?", now(),
                attempt.job, attempt.number);
  transaction.commit();
  return first;
}

void SqliteJobStore::admit(Transaction& transaction, const Leader& leader) {
  const std::optional<Leader> newest = newest_leader();
  if (newest && leader.token < newest->token) {
    sqlite::run(connection_, "INSERT INTO refusals (leader, epoch, token, at) VALUES (?, ?, ?, ?)",
                leader.id, leader.token.epoch, leader.token.value, now());
    transaction.commit();
    throw StaleToken{leader, *newest};
  }
  if (!newest || newest->token < leader.token)
    sqlite::run(connection_, "INSERT INTO terms (epoch, token, leader, began) VALUES (?, ?, ?, ?)",
                leader.token.epoch, leader.token.value, leader.id, now());
}

std::optional<Leader> SqliteJobStore::newest_leader() const {
  Statement last{connection_,
                 "SELECT leader, epoch, token FROM terms ORDER BY epoch DESC, token DESC LIMIT 1"};
  if (!last.step()) return std::nullopt;
  return Leader{.id = last.text(0), .token = {.epoch = last.integer(1), .value = last.integer(2)}};
}

}  // namespace job_scheduler
