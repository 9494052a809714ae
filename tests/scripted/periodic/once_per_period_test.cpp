// One of many processes runs a job, at most once per period: several at the same time.

#include "custodian/periodic/once_per_period.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <deque>

#include "custodian/locks/inter_process_mutex.hpp"
#include "periodic/period_record.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/periodic/period_play.hpp"
#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests::once_per_period_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A process with the job.
struct Host {
  Host(EndingWorld& world, const std::string& name, const PeriodOptions& options = {.every = 1h})
      : client{world.client(name)}, job{*client, job_path, options} {}

  void call() {
    answer = {};
    job.async_try_begin(answer.handler());
  }
  [[nodiscard]] bool has_turn() const { return static_cast<bool>(answer.result()); }
  [[nodiscard]] Turn& turn() const { return answer.result().turn; }
  [[nodiscard]] NotDue reason() const { return answer.result().reason; }

  std::unique_ptr<Client> client;
  OncePerPeriod job;
  Outcome<TurnResult> answer;
};

void end(World& world, Host& host, RunEnd how = RunEnd::success()) {
  const auto ended = run<>(world, [&](auto done) { host.turn().async_end(how, std::move(done)); });
  REQUIRE(ended.arrived());
  CHECK_FALSE(ended.error());
}

void call(World& world, Host& host) {
  host.call();
  REQUIRE(world.run_until_arrived(host.answer));
  INFO(host.answer.error().message());
  REQUIRE_FALSE(host.answer.error());
}
/// A run of the host, which ends, and whose record is moved back by an hour.
void run_an_hour_ago(World& world, Host& host) {
  call(world, host);
  REQUIRE(host.has_turn());
  end(world, host);
  move_back(world, 1h);
}

TEST_CASE(
    "once per period: of many that call at once one has the turn, and the others know whose") {
  EndingWorld world;
  std::deque<Host> hosts;
  for (int i = 0; i < 20; ++i) hosts.emplace_back(world, "host" + std::to_string(i));
  for (Host& host : hosts) host.call();
  for (Host& host : hosts) REQUIRE(world.run_until_arrived(host.answer));
  const auto winner = std::ranges::find_if(hosts, [](const Host& each) { return each.has_turn(); });
  REQUIRE(winner != hosts.end());
  for (Host& host : hosts) {
    CHECK_FALSE(host.answer.error());
    if (&host == &*winner) continue;
    CHECK(host.reason() == NotDue::is_running);
    CHECK(host.answer.result().last->by == winner->turn().run().by);
  }
  end(world, *winner);
  call(world, hosts.front());
  CHECK(hosts.front().reason() == NotDue::has_run);
}

TEST_CASE(
    "once per period: whatever happens to one of two that call at once, one turn is the most") {
  Plays plays{"two at once"};
  std::size_t steps = 40;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(faults_and_late_ones())) {
      EndingWorld world;
      Host one{world, "one"};
      Host two{world, "two"};
      const auto plan = std::make_shared<FaultsAt>("one", Faults{{at, fault}});
      world.ensemble.set_fault_plan(plan);
      one.call();
      two.call();
      std::string violation;
      if (!world.run_until_arrived(one.answer) || !world.run_until_arrived(two.answer)) {
        violation = "one does not end";
      } else {
        world.ensemble.release_replies();
        const bool first = !one.answer.error() && one.has_turn();
        const bool second = !two.answer.error() && two.has_turn();
        if (first && second) violation = "two turns";
        if (!first && !second) violation = "no turn";
        const auto record = recorded(world);
        const Host& winner = first ? one : two;
        if ((first || second) && record->id != winner.turn().run().id) violation = "another record";
      }
      plays.add(violation,
                [&] { return "request " + std::to_string(at) + ": " + describe(fault); });
      if (at == 0) steps = std::max<std::size_t>(12, plan->steps());
      one.answer = {};
      two.answer = {};
    }
  }
}

TEST_CASE("once per period: a period whose run was broken off is skipped, or repeated if asked") {
  EndingWorld world;
  Host one{world, "one"};
  Host two{world, "two"};
  Host stubborn{world, "three", {.every = 1h, .after_failure = AfterFailure::retry}};
  call(world, one);
  REQUIRE(one.has_turn());
  const PeriodRun::Time due = one.turn().run().due;
  call(world, stubborn);
  CHECK(stubborn.reason() == NotDue::is_running);
  // As if the process had died: its session ends.
  world.ensemble.expire(one.client->session().id);
  call(world, two);
  CHECK(two.reason() == NotDue::has_failed);
  CHECK(two.answer.result().last->state == RunState::broken_off);
  CHECK(two.answer.result().explain().find("has not ended it") != std::string::npos);
  call(world, stubborn);
  REQUIRE(stubborn.has_turn());
  CHECK(stubborn.turn().run().due == due);
  CHECK(stubborn.turn().run().attempt == 2);

  // The first one has not died, but is late: the record of the later run stays as it is.
  const auto late =
      run<>(world, [&](auto done) { one.turn().async_end(RunEnd::success(), std::move(done)); });
  REQUIRE(late.arrived());
  CHECK(late.error() == Errc::lock_lost);
  CHECK(recorded(world)->by == "three");
  CHECK(recorded(world)->state == RunState::running);
  end(world, stubborn, RunEnd::failure());
  call(world, two);
  CHECK(two.answer.result().explain().find("it has failed") != std::string::npos);
  call(world, stubborn);
  REQUIRE(stubborn.has_turn());
  CHECK(stubborn.turn().run().attempt == 3);
  end(world, stubborn);
  call(world, stubborn);
  CHECK(stubborn.reason() == NotDue::has_run);
}

TEST_CASE("once per period: a job that could not be begun is another's at once") {
  EndingWorld world;
  Host one{world, "one"};
  Host two{world, "two"};
  call(world, one);
  REQUIRE(one.has_turn());
  end(world, one, RunEnd::not_begun());
  call(world, two);
  REQUIRE(two.has_turn());
  CHECK(two.turn().run().attempt == 1);
  CHECK(two.answer.result().last->by == "one");
}

TEST_CASE(
    "once per period: the next periods are counted from the first run, and missed ones added") {
  EndingWorld world;
  Host host{world, "one"};
  call(world, host);
  REQUIRE(host.has_turn());
  end(world, host);
  CHECK(recorded(world)->lasted.has_value());
  move_back(world, 55min);
  const PeriodRun::Time due = recorded(world)->due;
  call(world, host);
  REQUIRE(host.has_turn());
  CHECK(host.turn().run().due == due + 1h);
  CHECK(host.turn().run().missed == 0);
  end(world, host, RunEnd::failure());
  move_back(world, 5h);
  call(world, host);
  REQUIRE(host.has_turn());
  CHECK(host.turn().run().missed == 5);
  CHECK(host.turn().run().due == host.turn().run().begun);
}

TEST_CASE("once per period: nobody waits for a run that is longer than its period") {
  EndingWorld world;
  Host one{world, "one"};
  Host two{world, "two"};
  call(world, one);
  REQUIRE(one.has_turn());
  move_back(world, 3h);
  call(world, two);
  CHECK(two.reason() == NotDue::is_running);
}

TEST_CASE("once per period: a server that has missed the run of another gives no second one") {
  EndingWorld world;
  Host one{world, "one"};
  run_an_hour_ago(world, one);
  world.ensemble.leave_server_behind();
  call(world, one);
  REQUIRE(one.has_turn());
  // This client's session begins at the server that shows the record of the hour before.
  Host two{world, "two"};
  world.ensemble.clear_history();
  call(world, two);
  CHECK(two.reason() == NotDue::is_running);
  // It has written the clock first, and needed no lock to know.
  const auto history = world.ensemble.history();
  REQUIRE_FALSE(history.empty());
  CHECK(history.front().kind == "set");
  CHECK(std::ranges::none_of(history, [](const auto& each) { return each.kind == "create"; }));
}

/// The answer to a call while somebody else holds the lock of the job.
TurnResult answer_beside_a_holder(World& world, Host& host) {
  auto holder = world.client("somebody");
  InterProcessMutex mutex{*holder, job_lock_path};
  auto lease = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE(lease.arrived());
  Outcome<TurnResult> answer;
  host.job.async_try_begin({Deadline{300ms}}, answer.handler());
  REQUIRE(world.run_until_arrived(answer));
  CHECK_FALSE(answer.error());
  return std::move(answer.result());
}

TEST_CASE("once per period: a lock that somebody else holds is named, and no run begins") {
  EndingWorld world;
  Host host{world, "one"};
  const TurnResult answer = answer_beside_a_holder(world, host);
  CHECK(answer.reason == NotDue::blocked);
  CHECK(answer.explain().find("somebody") != std::string::npos);
  CHECK_FALSE(recorded(world));
  call(world, host);
  CHECK(host.has_turn());
}

TEST_CASE("once per period: of a call that is blocked nobody knows when it may have its turn") {
  EndingWorld world;
  Host host{world, "one"};
  run_an_hour_ago(world, host);
  const TurnResult answer = answer_beside_a_holder(world, host);
  CHECK(answer.reason == NotDue::blocked);
  CHECK(answer.last);
  CHECK_FALSE(answer.next);
}

TEST_CASE("once per period: a record that is none is an error, and stays as it is") {
  EndingWorld world;
  Host host{world, "one"};
  world.make("/jobs");
  world.make(job_path);
  world.make(record_path, "{\"version\": 1, \"holder\": \"kazoo\"}");
  host.call();
  REQUIRE(world.run_until_arrived(host.answer));
  CHECK(host.answer.error() == Errc::malformed_data);
  const auto last = run<std::optional<PeriodRun>>(
      world, [&](auto done) { host.job.async_last_run({}, std::move(done)); });
  CHECK(last.error() == Errc::malformed_data);
  CHECK(world.ensemble.operate(request::Get{record_path}).data ==
        "{\"version\": 1, \"holder\": \"kazoo\"}");
}

TEST_CASE("once per period: the record tells the last run, and whether it was broken off") {
  EndingWorld world;
  Host host{world, "one"};
  const auto last = [&] {
    const auto read = run<std::optional<PeriodRun>>(
        world, [&](auto done) { host.job.async_last_run({}, std::move(done)); });
    REQUIRE(read.arrived());
    INFO(read.error().message());
    REQUIRE_FALSE(read.error());
    return read.result();
  };
  world.make("/jobs");
  world.make(job_path);
  CHECK_FALSE(last());
  call(world, host);
  REQUIRE(host.has_turn());
  CHECK(last() == host.turn().run());
  host.answer = {};
  REQUIRE(world.run_until([&] { return world.ensemble.children(job_lock_path).empty(); }));
  CHECK(last()->state == RunState::broken_off);
}

TEST_CASE(
    "once per period: a client that is not connected yet writes the clock no more than others") {
  World world;
  world.ensemble.stop();
  // World::client() waits for the connection.
  auto client = std::make_unique<Client>(world.context.get_executor(), world.options("fresh"));
  {
    OncePerPeriod job{*client, job_path, {.every = 1h}};
    Outcome<TurnResult> answer;
    job.async_try_begin(answer.handler());
    world.settle();
    world.ensemble.start();
    REQUIRE(world.run_until_arrived(answer));
    CHECK(answer.result());
    const Reply clock = world.ensemble.operate(request::Get{std::string{job_path} + "/clock"});
    REQUIRE_FALSE(clock.error);
    CHECK(clock.stat.version == 1);  // before it has the lock, and with it
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("once per period: a client that closes begins no run") {
  EndingWorld world;
  Host host{world, "one"};
  const auto closed =
      run<bool>(world, [&](auto done) { host.client->async_close(Deadline{1s}, std::move(done)); });
  REQUIRE(closed.arrived());
  host.call();
  REQUIRE(world.run_until_arrived(host.answer));
  CHECK(host.answer.error() == Errc::closed);
}

TEST_CASE("once per period: a caller's mistake is named at once") {
  EndingWorld world;
  auto client = world.client("one");
  CHECK_THROWS_AS((OncePerPeriod{*client, "jobs", {.every = 1h}}), Error);
  CHECK_THROWS_AS((OncePerPeriod{*client, "/", {.every = 1h}}), Error);
  CHECK_THROWS_AS((OncePerPeriod{*client, "/jobs", {}}), Error);
  CHECK_THROWS_AS((OncePerPeriod{*client, "/jobs", {.every = 999ms}}), Error);
  CHECK_THROWS_AS((OncePerPeriod{*client, "/jobs", {.every = 24h * 3661}}), Error);
  Turn none;
  CHECK_THROWS_AS(none.end(RunEnd::success()), Error);
  Host host{world, "two"};
  call(world, host);
  REQUIRE(host.has_turn());
  CHECK_THROWS_AS(host.turn().end(RunEnd{.state = RunState::running}), Error);
  CHECK_THROWS_AS(host.turn().end(RunEnd{.state = RunState::broken_off}), Error);
}

}  // namespace
}  // namespace custodian::tests::once_per_period_test
