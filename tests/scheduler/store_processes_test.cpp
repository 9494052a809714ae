// Several processes use one database: SQLite's locks are between processes, not threads.

#include <array>
#include <deque>
#include <sstream>

#include "programs/program.hpp"
#include "sqlite_job_store.hpp"
#include "support/catch.hpp"

namespace custodian::tests::store_processes_test {

using custodian::tests::Directory;
using custodian::tests::Program;
using custodian::tests::Result;
using job_scheduler::SqliteJobStore;

namespace {

constexpr int jobs = 100;

struct Told {
  int recorded = 0;
  int late = 0;
  bool refused = false;
};

Told told(Program& writer) {
  const Result result = writer.result();
  INFO(result.output);
  CHECK(result.status == 0);
  Told told;
  std::istringstream{result.output} >> told.recorded >> told.late >> told.refused;
  return told;
}

std::int64_t number(const std::string& file, const char* query) {
  const sqlite::Connection connection{file, std::chrono::seconds{10}};
  sqlite::Statement rows{connection, query};
  return rows.step() ? rows.integer(0) : -1;
}

constexpr const char* results = "SELECT count(*) FROM results";
/// Counts the results that were recorded with the smaller token after the greater one was seen.
constexpr const char* stale_results =
    "SELECT count(*) FROM attempts WHERE token = 1 AND ended > (SELECT min(began) FROM attempts"
    " WHERE token = 2)";

}  // namespace

TEST_CASE("two processes with the same token write at once, and each job has one result") {
  const Directory directory;
  const std::string file = directory.file("jobs");
  SqliteJobStore{file}.add_jobs(jobs);
  Program one{CUSTODIAN_SCHEDULER_WRITER, {file, "one", "1"}};
  Program another{CUSTODIAN_SCHEDULER_WRITER, {file, "another", "1"}};
  const Told of_one = told(one);
  const Told of_another = told(another);
  CHECK(of_one.recorded + of_another.recorded == jobs);
  CHECK_FALSE((of_one.refused || of_another.refused));
  CHECK(number(file, results) == jobs);
  CHECK(number(file, "SELECT count(*) FROM attempts") == jobs + of_one.late + of_another.late);
}

TEST_CASE(
    "of two processes that write at once the one with the smaller token is refused for good") {
  const Directory directory;
  const std::string file = directory.file("jobs");
  SqliteJobStore store{file};
  store.add_jobs(jobs);
  Program old{CUSTODIAN_SCHEDULER_WRITER, {file, "old", "1"}};
  // The writer has begun now, and may even be done.
  while (store.unfinished() == jobs) {
  }
  Program young{CUSTODIAN_SCHEDULER_WRITER, {file, "young", "2"}};
  const Told of_old = told(old);
  const Told of_young = told(young);
  CHECK_FALSE(of_young.refused);
  CHECK(of_old.recorded + of_young.recorded == jobs);
  CHECK(of_old.refused == (store.refusals() == 1));
  CHECK(number(file, results) == jobs);
  CHECK(number(file, stale_results) == 0);
}

TEST_CASE("processes that open a database at once, which is not there yet, make it once") {
  for (int round = 0; round < 5; ++round) {
    const Directory directory;
    const std::string file = directory.file("jobs");
    std::deque<Program> writers;
    for (const char* id : {"1", "2", "3", "4"})
      writers.emplace_back(CUSTODIAN_SCHEDULER_WRITER, std::vector<std::string>{file, id, id});
    // There are no jobs, but each writer finds the tables.
    for (Program& writer : writers) CHECK(told(writer).recorded == 0);
    CHECK(number(file, "SELECT count(*) FROM terms") >= 1);
  }
}

}  // namespace custodian::tests::store_processes_test
