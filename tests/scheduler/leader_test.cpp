// A leader and its jobs: the loop of the example, without ZooKeeper.

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "pause.hpp"
#include "programs/program.hpp"
#include "scheduler.hpp"
#include "sqlite_job_store.hpp"
#include "support/catch.hpp"

namespace custodian::tests::leader_test {

using custodian::tests::Directory;
using job_scheduler::Attempt;
using job_scheduler::Leader;
using job_scheduler::Scheduler;
using job_scheduler::SqliteJobStore;
using Lines = std::vector<std::string>;

namespace {

const Leader leader{.id = "A", .token = {.value = 10}};
const Leader successor{.id = "B", .token = {.value = 11}};

struct Leading {
  Directory directory;
  SqliteJobStore store{directory.file("jobs")};
  std::stop_source stop;
  Lines lines;

  explicit Leading(int jobs) { store.add_jobs(jobs); }

  void lead(job_scheduler::Work work) {
    Scheduler scheduler{store, std::move(work),
                        [this](const std::string& line) { lines.push_back(line); }};
    scheduler.lead(leader, stop.get_token());
  }
};

}  // namespace

TEST_CASE("a leader takes over first, runs the jobs in order, and says what it does") {
  Leading leading{2};
  leading.lead([&](const Attempt& attempt, const std::stop_token&) {
    if (attempt.job == 2) leading.stop.request_stop();
    return std::string{"done"};
  });
  CHECK(leading.store.unfinished() == 0);
  CHECK(leading.lines == Lines{"took over with token 10", "running job 1", "recorded job 1",
                               "running job 2", "recorded job 2"});
}

TEST_CASE("a job that others did not end is run again, and the leader says so") {
  Leading leading{1};
  static_cast<void>(leading.store.begin_attempt({.id = "X", .token = {.value = 1}}));
  SECTION("one other") {
    leading.lead([&](const Attempt&, const std::stop_token&) {
      leading.stop.request_stop();
      return std::string{"done"};
    });
    CHECK(leading.lines.at(1) == "running job 1 (attempt 2, the first by X did not end)");
  }
  SECTION("two others") {
    static_cast<void>(leading.store.begin_attempt({.id = "Y", .token = {.value = 2}}));
    leading.lead([&](const Attempt&, const std::stop_token&) {
      leading.stop.request_stop();
      return std::string{"done"};
    });
    CHECK(leading.lines.at(1) == "running job 1 (attempt 3, the last by Y did not end)");
  }
  CHECK(leading.lines.back() == "recorded job 1");
}

TEST_CASE("a job that heeds the end of the leadership is given up, and no other is begun") {
  Leading leading{2};
  leading.lead([&](const Attempt&, const std::stop_token&) {
    leading.stop.request_stop();
    return std::nullopt;
  });
  CHECK(leading.store.unfinished() == 2);
  CHECK(leading.lines.back() == "gave up job 1");
}

TEST_CASE("a result that comes after another one has taken over is refused, and that is the end") {
  Leading leading{2};
  leading.lead([&](const Attempt& attempt, const std::stop_token&) {
    if (attempt.job == 2) leading.stop.request_stop();
    leading.store.take_over(successor);
    return std::string{"stale"};
  });
  CHECK(leading.store.unfinished() == 2);
  CHECK(leading.store.refusals() == 1);
  CHECK(leading.lines.back() == "refused: stale token 10, B came with token 11");
}

TEST_CASE("who was replaced before it began runs nothing") {
  Leading leading{1};
  leading.store.take_over(successor);
  leading.lead([](const Attempt&, const std::stop_token&) -> std::string {
    throw std::logic_error{"is not run"};
  });
  CHECK(leading.lines == Lines{"refused: stale token 10, B came with token 11"});
}

TEST_CASE("without a job a leader waits for one, until it is stopped") {
  Leading leading{0};
  std::jthread later{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    SqliteJobStore{leading.directory.file("jobs")}.add_jobs(1);
  }};
  leading.lead([&](const Attempt&, const std::stop_token&) {
    leading.stop.request_stop();
    return std::string{"done"};
  });
  CHECK(leading.store.unfinished() == 0);
}

TEST_CASE("what the work throws ends the leader's turn") {
  Leading leading{1};
  CHECK_THROWS_AS(leading.lead([](const Attempt&, const std::stop_token&) -> std::string {
    throw std::runtime_error{"no paper"};
  }),
                  std::runtime_error);
  CHECK(leading.store.unfinished() == 1);
}

TEST_CASE("a pause that has passed counts as such, also if the stop was requested meanwhile") {
  using std::chrono::hours;
  std::stop_source stop;
  CHECK(job_scheduler::pause(std::chrono::milliseconds{1}, stop.get_token()));
  stop.request_stop();
  CHECK_FALSE(job_scheduler::pause(hours{1}, stop.get_token()));
  CHECK(job_scheduler::pause(hours{0}, stop.get_token()));
}

}  // namespace custodian::tests::leader_test
