// The scheduler's program, started by the test.

#include "programs/program.hpp"

#include "sqlite_job_store.hpp"
#include "support/catch.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::scheduler::program_test {
namespace {

/// The options of all instances of a test.
std::vector<std::string> options(const TestClient& client, const Directory& directory,
                                 std::vector<std::string> more) {
  std::vector<std::string> all{
      "--servers",  to_string(server_endpoint()), "--path",     client.root() + "/s",
      "--database", directory.file("jobs"),       "--job-time", "1ms"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("an instance alone runs its jobs and ends") {
  const TestClient client{"scheduler alone"};
  const Directory directory;
  const std::string scheduler = CUSTODIAN_EXAMPLE_JOB_SCHEDULER;
  const Result result =
      run(scheduler, options(client, directory, {"--id", "me", "--jobs", "3", "--until-done"}));
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, " me: took over with token "));
  CHECK(contains(result.output, " me: running job 3\n"));
  CHECK(contains(result.output, " me: recorded job 3\n"));
  CHECK(contains(result.output, " me: leads no more: asked to end\n"));
  CHECK(contains(result.output, " me: ends; 0 jobs without a result, 0 stale writes refused\n"));
}

TEST_CASE("an instance that is asked to end lets another one lead") {
  const TestClient client{"scheduler asked"};
  const Directory directory;
  const std::string scheduler = CUSTODIAN_EXAMPLE_JOB_SCHEDULER;
  Program leader{scheduler, options(client, directory, {"--id", "A", "--jobs", "2"})};
  REQUIRE(leader.says("A: recorded job 2"));
  Program other{scheduler,
                options(client, directory, {"--id", "B", "--jobs", "4", "--until-done"})};
  leader.signal(SIGTERM);
  const Result left = leader.result();
  INFO(left.output);
  CHECK(left.status == 0);
  CHECK(contains(left.output, "A: leads no more: asked to end"));
  const Result right = other.result();
  INFO(right.output);
  CHECK(right.status == 0);
  CHECK(contains(right.output, "B: ends; 0 jobs without a result"));
}

TEST_CASE("a leader whose database fails lets others lead, and tries again") {
  const TestClient client{"scheduler database"};
  const Directory directory;
  const std::string file = directory.file("jobs");
  job_scheduler::SqliteJobStore{file}.add_jobs(1);
  const sqlite::Connection database{file, patience};
  run(database,
      "CREATE TRIGGER disk_full BEFORE INSERT ON results"
      " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  Program scheduler{CUSTODIAN_EXAMPLE_JOB_SCHEDULER,
                    options(client, directory, {"--id", "A", "--until-done"})};
  REQUIRE(scheduler.says("A: leads no more: SQLite: the disk is full"));
  run(database, "DROP TRIGGER disk_full");
  const Result result = scheduler.result();
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, "did not end)"));
  CHECK(contains(result.output, "A: recorded job 1"));
}

TEST_CASE("the scheduler says how it is called, and what is wrong") {
  const std::string scheduler = CUSTODIAN_EXAMPLE_JOB_SCHEDULER;
  const Result help = run(scheduler, {"--help"});
  INFO(help.output);
  CHECK(help.status == 0);
  for (const char* option : {"--servers", "--path", "--database", "--id", "--jobs", "--until-done",
                             "--job-time DURATION=500ms", "--session-timeout"}) {
    CHECK(contains(help.output, option));
  }
  const Directory directory;
  const Result nowhere = run(scheduler, {"--database", directory.file("none") + "/jobs"});
  INFO(nowhere.output);
  CHECK(nowhere.status == 1);
  CHECK(contains(nowhere.output, "unable to open database file"));
  const Result wrong = run(scheduler, {"--database", directory.file("jobs"), "--servers", "a:b"});
  INFO(wrong.output);
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.output, "a:b"));
  CHECK(run(scheduler, {"--job-time", "5"}).status != 0);
}

}  // namespace
}  // namespace custodian::tests::scheduler::program_test
