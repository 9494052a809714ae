// The blocking forms of jobs that run once per period: what they return, and what they throw.

#include <boost/asio/error.hpp>
#include <chrono>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "scripted/blocking_calls.hpp"
#include "support/catch.hpp"

namespace custodian::tests::once_per_period_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code no_auth = ServerErrc::no_auth;
const error_code mistake = Errc::invalid_argument;

TEST_CASE("calls: a job's calls tell the last run, and whether one is due") {
  BlockingClient one;
  const OncePerPeriod job{one.client, "/job", {.every = 1h, .identity = "me"}};
  CHECK(job.path() == "/job");
  CHECK(job.record_path() == "/job/record");
  CHECK_FALSE(job.last_run());
  TurnResult first = job.try_begin();
  REQUIRE(first);
  CHECK(first.explain().empty());
  CHECK(first.reason == NotDue::none);
  CHECK_FALSE(first.last);
  CHECK(first.turn.run().by == "me");
  CHECK(first.turn.run().attempt == 1);
  CHECK(first.turn.lease().state() == LeaseState::held);
  CHECK(job.last_run().value().state == RunState::running);
  const TurnResult second = job.try_begin();
  CHECK(second.reason == NotDue::is_running);
  CHECK(second.explain().find("me is running it, begun ") == 0);
  CHECK_FALSE(second.next);
  check_throws(mistake, "Turn::end", "/job", [&] { first.turn.end({RunState::running}); });
  check_throws(mistake, "Turn::end", "/job", [&] { first.turn.end({RunState::broken_off}); });
  first.turn.end({.state = RunState::succeeded, .status = 3});
  CHECK(until([&] { return one.ensemble.children("/job/lock").empty(); }));
  const PeriodRun last = job.last_run().value();
  CHECK(last.state == RunState::succeeded);
  CHECK(last.status == 3);
  CHECK(last.lasted.value() >= 0ms);
  const TurnResult third = job.try_begin();
  CHECK(third.reason == NotDue::has_run);
  CHECK(third.explain().find("me has run it, begun ") == 0);
  CHECK(third.last == last);
  CHECK(third.next.value() > last.begun);
  check_throws(Errc::lock_lost, "Turn::end", "/job", [&] { first.turn.end(RunEnd::success()); });
  Turn empty;
  check_throws(Errc::lock_lost, "Turn::end", "", [&] { empty.end(RunEnd::success()); });
}

TEST_CASE("calls: a job that has its turn again has nothing to explain") {
  BlockingClient one;
  const OncePerPeriod job{one.client, "/job", {.every = 1h, .after_failure = AfterFailure::retry}};
  TurnResult first = job.try_begin();
  REQUIRE(first);
  CHECK(first.turn.run().by == one.client.identity());
  first.turn.end(RunEnd::failure());
  const TurnResult second = job.try_begin();
  REQUIRE(second);
  CHECK(second.last.value().state == RunState::failed);
  CHECK(second.explain().empty());
  CHECK(second.turn.run().attempt == 2);
}

TEST_CASE("calls: a job's lock shows the job's identity") {
  BlockingClient one;
  const OncePerPeriod job{one.client, "/job", {.every = 1h, .identity = "me"}};
  const TurnResult turn = job.try_begin();
  REQUIRE(turn);
  const InterProcessMutex lock{one.client, "/job/lock"};
  const auto participants = lock.participants();
  REQUIRE(participants.size() == 1);
  CHECK(participants.front().identity == "me");
}

TEST_CASE("calls: a job's calls throw what the servers refuse, and when they are stopped") {
  BlockingClient one;
  const OncePerPeriod job{one.client, "/job", {.every = 1h}};
  TurnResult begun = job.try_begin();
  REQUIRE(begun);
  one.ensemble.refuse("/job/record");
  check_throws(no_auth, "Turn::end", "/job", [&] { begun.turn.end(RunEnd::success()); });
  check_throws(no_auth, "OncePerPeriod::last_run", "/job/record", [&] { return job.last_run(); });
  check_throws(no_auth, "OncePerPeriod::try_begin", "/job", [&] { return job.try_begin(); });
  InterProcessMutex lock{one.client, "/busy/lock"};
  const Lease held = lock.acquire();
  const OncePerPeriod busy{one.client, "/busy", {.every = 1h}};
  check_throws(boost::asio::error::operation_aborted, "OncePerPeriod::try_begin", "/busy",
               [&] { return busy.try_begin({Deadline{1h}}, BlockingClient::stopped()); });
}

TEST_CASE("calls: a job's periods are a second to ten years") {
  BlockingClient one;
  const auto make = [&](std::chrono::milliseconds every) {
    return OncePerPeriod{one.client, "/job", {.every = every}};
  };
  constexpr std::chrono::hours longest{24 * 3660};
  CHECK_NOTHROW(make(1s));
  CHECK_NOTHROW(make(longest));
  check_throws(mistake, "OncePerPeriod", "/job", [&] { return make(999ms); });
  check_throws(mistake, "OncePerPeriod", "/job", [&] { return make(longest + 1ms); });
  check_throws(mistake, "OncePerPeriod", "/", [&] {
    return OncePerPeriod{one.client, "/", {.every = 1h}};
  });
}

TEST_CASE("calls: a job's calls end at their deadlines though no thread runs the context") {
  UnrunClient mine;
  const auto brief = [] { return OperationOptions{UnrunClient::brief}; };
  {
    const OncePerPeriod job{*mine.client, "/job", {.every = 1h}};
    const auto begun =
        run<TurnResult>(mine.world, [&](auto done) { job.async_try_begin({Deadline{1h}}, done); });
    REQUIRE(begun.result());
    check_throws(Errc::deadline_exceeded_outcome_unknown, "Turn::end", "/job",
                 [&] { begun.result().turn.end(RunEnd::success(), brief()); });
    check_throws(Errc::deadline_exceeded, "OncePerPeriod::last_run", "/job/record",
                 [&] { return job.last_run(brief()); });
    check_throws(Errc::deadline_exceeded_outcome_unknown, "OncePerPeriod::try_begin", "/job",
                 [&] { return job.try_begin(brief()); });
    begun.result().turn = Turn{};
  }
}

}  // namespace
}  // namespace custodian::tests::once_per_period_calls_test
