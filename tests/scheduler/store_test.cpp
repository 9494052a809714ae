#include "programs/program.hpp"
#include "sqlite_job_store.hpp"
#include "support/catch.hpp"

namespace custodian::tests::store_test {

using custodian::tests::contains;
using custodian::tests::Directory;
using job_scheduler::Attempt;
using job_scheduler::Leader;
using job_scheduler::SqliteJobStore;
using job_scheduler::StaleToken;

namespace {

const Leader first{.id = "first", .token = {.value = 10}};
const Leader second{.id = "second", .token = {.value = 11}};

/// A store with three jobs, and another connection to look at what is in it.
struct Store {
  Directory directory;
  std::string file = directory.file("jobs");
  SqliteJobStore store{file};
  sqlite::Connection eye{file, std::chrono::seconds{10}};

  Store() { store.add_jobs(3); }

  SqliteJobStore* operator->() { return &store; }
  [[nodiscard]] std::int64_t number(const char* query) const {
    sqlite::Statement rows{eye, query};
    return rows.step() ? rows.integer(0) : -1;
  }
  [[nodiscard]] Attempt begin(const Leader& leader) {
    return store.begin_attempt(leader).value_or(Attempt{.job = -1, .number = -1});
  }
};

}  // namespace

TEST_CASE("jobs are begun in their order, and one with a result is not begun again") {
  Store store;
  CHECK(store->unfinished() == 3);
  for (int job = 1; job <= 3; ++job) {
    const Attempt attempt = store.begin(first);
    CHECK(attempt.job == job);
    CHECK(attempt.number == 1);
    CHECK(attempt.previous_leader.empty());
    CHECK(store->record(first, attempt, "done"));
    CHECK(store->unfinished() == 3 - job);
  }
  CHECK_FALSE(store->begin_attempt(first));
}

TEST_CASE("jobs are added once, however often they are asked for") {
  Store store;
  store->add_jobs(3);
  CHECK(store->unfinished() == 3);
  store->add_jobs(5);
  CHECK(store->unfinished() == 5);
}

TEST_CASE("a job whose attempt did not end is begun again, and it is told whose that was") {
  Store store;
  CHECK(store.begin(first).number == 1);
  const Attempt again = store.begin(second);
  CHECK(again.job == 1);
  CHECK(again.number == 2);
  CHECK(again.previous_leader == "first");
  CHECK(store->record(second, again, "done"));
  CHECK(store.number("SELECT count(*) FROM attempts WHERE job = 1 AND ended IS NOT NULL") == 1);
  CHECK(store.number("SELECT attempt FROM results WHERE job = 1") == 2);
}

TEST_CASE("a token that is smaller than one that was seen is refused, and counted") {
  Store store;
  const Attempt attempt = store.begin(first);
  store->take_over(second);
  CHECK_THROWS_AS(store->record(first, attempt, "stale"), StaleToken);
  CHECK_THROWS_AS(static_cast<void>(store->begin_attempt(first)), StaleToken);
  CHECK_THROWS_AS(store->take_over(first), StaleToken);
  CHECK(store->refusals() == 3);
  // The refused writes have changed nothing else.
  CHECK(store->unfinished() == 3);
  CHECK(store.number("SELECT count(*) FROM attempts") == 1);
  CHECK(store.number("SELECT count(*) FROM attempts WHERE ended IS NOT NULL") == 0);
  CHECK(store.number("SELECT count(*) FROM terms") == 2);
  CHECK(store.number("SELECT count(*) FROM refusals WHERE leader = 'first' AND token = 10") == 3);
}

TEST_CASE("a refusal names both tokens, and who came with the greater one") {
  Store store;
  store->take_over(second);
  try {
    store->take_over(first);
    FAIL("was not refused");
  } catch (const StaleToken& refusal) {
    CHECK(std::string{refusal.what()} == "stale token 10, second came with token 11");
  }
}

TEST_CASE("any write of a leader makes its token the smallest that is accepted") {
  Store store;
  const Attempt attempt = store.begin(first);
  SECTION("the beginning of an attempt") { CHECK(store.begin(second).number == 2); }
  SECTION("a result") { CHECK(store->record(second, attempt, "done")); }
  SECTION("the beginning of nothing, for there is no job left") {
    for (Attempt next = attempt; next.job > 0; next = store.begin(first))
      CHECK(store->record(first, next, "done"));
    CHECK(store.begin(second).job == -1);
  }
  CHECK_THROWS_AS(store->take_over(first), StaleToken);
}

TEST_CASE("the token that was seen last is accepted again and again") {
  Store store;
  store->take_over(second);
  store->take_over(second);
  CHECK(store->record(second, store.begin(second), "done"));
  CHECK(store->refusals() == 0);
  CHECK(store.number("SELECT count(*) FROM terms") == 1);
}

TEST_CASE("a greater epoch counts more than a greater number") {
  Store store;
  const Leader rebuilt{.id = "rebuilt", .token = {.epoch = 1, .value = 1}};
  store->take_over(second);
  store->take_over(rebuilt);
  CHECK_THROWS_AS(store->take_over(second), StaleToken);
  CHECK(store->record(rebuilt, store.begin(rebuilt), "done"));
}

TEST_CASE("a job has one result, and the first one stays") {
  Store store;
  const Attempt attempt = store.begin(first);
  CHECK(store->record(first, attempt, "one"));
  CHECK_FALSE(store->record(first, attempt, "another"));
  CHECK_FALSE(store->record(second, attempt, "a third"));
  CHECK(store.number("SELECT count(*) FROM results") == 1);
  CHECK(store.number("SELECT count(*) FROM results WHERE job = 1 AND result = 'one'") == 1);
}

TEST_CASE("a write that fails half way leaves nothing, not even its token") {
  Store store;
  const Attempt attempt = store.begin(first);
  sqlite::run(store.eye,
              "CREATE TRIGGER disk_full BEFORE UPDATE ON attempts"
              " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  CHECK_THROWS_AS(store->record(second, attempt, "done"), sqlite::Error);
  CHECK(store->unfinished() == 3);
  CHECK(store.number("SELECT count(*) FROM terms") == 1);

  sqlite::run(store.eye, "DROP TRIGGER disk_full");
  CHECK(store->record(first, attempt, "done"));
  CHECK(store->unfinished() == 2);
}

TEST_CASE("what a store has is there when it is opened again") {
  Directory directory;
  Attempt attempt;
  {
    SqliteJobStore store{directory.file("jobs")};
    store.add_jobs(1);
    store.take_over(second);
  }
  SqliteJobStore store{directory.file("jobs")};
  CHECK(store.unfinished() == 1);
  CHECK_THROWS_AS(store.take_over(first), StaleToken);
}

TEST_CASE("ids and results are data, whatever is in them") {
  Store store;
  const Leader odd{.id = "'); DROP TABLE results; --", .token = {.value = 1}};
  const Attempt attempt = store.begin(odd);
  CHECK(store->record(odd, attempt, "' OR 1 = 1"));
  CHECK(store.number("SELECT count(*) FROM results WHERE result = ''' OR 1 = 1'") == 1);
  CHECK(store.number("SELECT count(*) FROM attempts WHERE leader LIKE '%DROP TABLE%'") == 1);
}

TEST_CASE("a store that cannot be opened says which file and why") {
  const Directory directory;
  const std::string file = directory.file("none") + "/jobs";
  try {
    SqliteJobStore store{file};
    FAIL("was opened");
  } catch (const sqlite::Error& error) {
    CHECK(contains(error.what(), file));
    CHECK(contains(error.what(), "unable to open"));
  }
}

}  // namespace custodian::tests::store_test
