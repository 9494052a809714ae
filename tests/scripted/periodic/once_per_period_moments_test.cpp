// Calls whose record, lock or connection is changed between two requests.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "custodian/periodic/once_per_period.hpp"
#include "periodic/period_record.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/enough_time.hpp"
#include "scripted/moments.hpp"
#include "scripted/periodic/period_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::once_per_period_moments_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A process with the job; its client is called "mine".
struct Scene {
  EndingWorld world{};
  std::unique_ptr<Client> client = world.client("mine");
  OncePerPeriod job{*client, job_path, {.every = 1h}};
  std::shared_ptr<Moments> plan{};

  /// Begins a plan, in which each request is the first of its kind and path from now on.
  Moments& begin_plan() {
    plan = std::make_shared<Moments>("mine");
    world.ensemble.set_fault_plan(plan);
    return *plan;
  }
  void act_at(const std::string& kind, const std::string& at, std::function<void()> act) {
    begin_plan().before({.kind = kind, .path = at}, std::move(act));
  }
  void fail_at(const std::string& kind, const std::string& at) {
    begin_plan().fault_at({.kind = kind, .path = at}, {.kind = FaultKind::fail_before});
  }
  [[nodiscard]] Outcome<TurnResult> call(const OperationOptions& options = {}) {
    const auto answer =
        run<TurnResult>(world, [&](auto done) { job.async_try_begin(options, std::move(done)); });
    REQUIRE(answer.arrived());
    CHECK((!plan || plan->have_come()));
    INFO(answer.error().message());
    return answer;
  }
  [[nodiscard]] error_code end(Turn& turn, const OperationOptions& options = {}) {
    const auto ended = run<>(
        world, [&](auto done) { turn.async_end(RunEnd::success(), options, std::move(done)); });
    REQUIRE(ended.arrived());
    CHECK((!plan || plan->have_come()));
    return ended.error();
  }
  /// A run that has ended, in the period before.
  void run_before() {
    const auto answer = call();
    REQUIRE(answer.result());
    CHECK_FALSE(end(answer.result().turn));
    move_back(world, 1h);
  }
  /// Writes the record of a run of another process, which has just ended.
  void write_record() {
    PeriodRun run{.state = RunState::succeeded, .by = "another", .node = "n", .id = "other"};
    run.every = 1h;
    run.due = run.begun =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    run.attempt = 1;
    world.make("/jobs");
    world.make(job_path);
    const std::string text = recipes_detail::encode(run);
    world.make(record_path, text);
    world.ensemble.operate(request::Set{.path = record_path, .data = text});
  }
};

/// Each operation is tried once.
OperationOptions once() { return {.retry = RetryPolicy::n_times(0, 1ms)}; }

TEST_CASE("once per period: a record that is written before the run begins is read again") {
  Scene scene;
  scene.run_before();
  scene.act_at("multi", "", [&] { scene.write_record(); });
  const auto answer = scene.call();
  CHECK_FALSE(answer.error());
  CHECK_FALSE(answer.result());
  CHECK(answer.result().reason == NotDue::has_run);
  CHECK(recorded(scene.world)->by == "another");
}

TEST_CASE("once per period: a record that is created before the run begins is read") {
  Scene scene;
  scene.act_at("multi", "", [&] { scene.write_record(); });
  const auto answer = scene.call();
  CHECK_FALSE(answer.error());
  CHECK(answer.result().reason == NotDue::has_run);
  CHECK(recorded(scene.world)->by == "another");
}

TEST_CASE("once per period: a record that is deleted before the run begins is created anew") {
  Scene scene;
  scene.run_before();
  scene.act_at("multi", "", [&] { scene.world.remove(record_path); });
  const auto answer = scene.call();
  CHECK_FALSE(answer.error());
  REQUIRE(answer.result());
  CHECK(recorded(scene.world)->by == "mine");
  CHECK_FALSE(scene.end(answer.result().turn));
}

TEST_CASE("once per period: a run that ends while the lock is acquired is not repeated") {
  Scene scene;
  scene.act_at("create", job_lock_path, [&] { scene.write_record(); });
  const auto answer = scene.call();
  CHECK_FALSE(answer.error());
  CHECK_FALSE(answer.result());
  CHECK(answer.result().reason == NotDue::has_run);
  CHECK(answer.result().last.value().by == "another");
  CHECK(
      scene.world.run_until([&] { return scene.world.ensemble.children(job_lock_path).empty(); }));
}

TEST_CASE("once per period: a call that may not be repeated fails with its request") {
  for (const std::string kind : {"multi", "set"}) {
    INFO(kind);
    Scene scene;
    scene.run_before();
    scene.fail_at(kind, "");
    const auto answer = scene.call(once());
    CHECK(answer.error() == ErrorCondition::outcome_unknown);
    CHECK(recorded(scene.world)->state == RunState::succeeded);
    CHECK(scene.world.run_until(
        [&] { return scene.world.ensemble.children(job_lock_path).empty(); }));
  }
}

TEST_CASE("once per period: an end that may not be repeated fails with its request") {
  Scene scene;
  const auto answer = scene.call();
  REQUIRE(answer.result());
  scene.fail_at("set", record_path);
  CHECK(scene.end(answer.result().turn, once()) == ErrorCondition::outcome_unknown);
  CHECK(recorded(scene.world)->state == RunState::running);
}

TEST_CASE("once per period: a call that is cancelled while it pauses begins no run") {
  Scene scene;
  scene.fail_at("multi", "");
  asio::cancellation_signal signal;
  Outcome<TurnResult> answer;
  const OperationOptions slowly{.deadline = Deadline::never(),
                                .retry = RetryPolicy::n_times(9, 1h)};
  scene.job.async_try_begin(slowly, asio::bind_cancellation_slot(signal.slot(), answer.handler()));
  REQUIRE(scene.world.run_until([&] { return scene.plan->have_come(); }));
  REQUIRE(scene.world.run_until([&] { return is_connected(scene.client->connection_state()); }));
  scene.world.settle();
  CHECK_FALSE(answer.arrived());
  signal.emit(asio::cancellation_type::all);
  REQUIRE(scene.world.run_until_arrived(answer));
  CHECK(answer.error() == asio::error::operation_aborted);
  CHECK_FALSE(recorded(scene.world));
}

TEST_CASE("once per period: a call whose connection is cut at the lock is not blocked by anybody") {
  play_with_enough_time(90ms, [](std::chrono::milliseconds time) {
    Scene scene;
    Moments& plan = scene.begin_plan();
    const NthRequest at_the_lock{.kind = "create", .path = job_lock_path};
    plan.before(at_the_lock, [&] { scene.world.ensemble.stop(); });
    plan.fault_at(at_the_lock, {.kind = FaultKind::disconnect});
    Outcome<TurnResult> answer;
    scene.job.async_try_begin({Deadline{time}}, answer.handler());
    REQUIRE(scene.world.run_until_arrived(answer));
    scene.world.ensemble.start();
    if (!scene.plan->have_come()) return false;
    CHECK(answer.error() == Errc::deadline_exceeded);
    return true;
  });
}

TEST_CASE("once per period: an end that cannot read what another has written tells why") {
  Scene scene;
  const auto answer = scene.call();
  REQUIRE(answer.result());
  scene.act_at("set", record_path, [&] { scene.write_record(); });
  scene.plan->before({.kind = "get", .path = record_path},
                     [&] { scene.world.ensemble.refuse(record_path); });
  CHECK(scene.end(answer.result().turn) == ServerErrc::no_auth);
  scene.world.ensemble.permit(record_path);
  CHECK(recorded(scene.world)->by == "another");
}

TEST_CASE("once per period: a result without a run has nothing to explain") {
  TurnResult result;
  for (const NotDue reason : {NotDue::has_run, NotDue::is_running, NotDue::has_failed,
                              NotDue::too_soon, NotDue::clock_behind}) {
    result.reason = reason;
    CHECK(result.explain().empty());
  }
}

}  // namespace
}  // namespace custodian::tests::once_per_period_moments_test
