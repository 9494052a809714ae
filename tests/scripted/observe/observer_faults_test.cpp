// An observer's events of losses, retries and the connection, and what happens if the observer
// itself throws.

#include <boost/asio/bind_executor.hpp>
#include <stdexcept>
#include <thread>

#include "custodian/authoring/observed_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/held.hpp"
#include "scripted/observe/observed.hpp"
#include "support/in_child.hpp"

namespace custodian::tests::observer_faults_test {
namespace {

using namespace std::chrono_literals;
using Lines = Records::Lines;

// -- Losses ---------------------------------------------------------------------------------------

TEST_CASE("observer: a loss is told when it is known, once, and again with the release") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  static_cast<void>(observed.told());
  std::string why;
  SECTION("the session has ended") {
    observed.world.ensemble.expire(observed.mine->session().id);
    why = "its session has ended";
  }
  SECTION("the client is closed") {
    observed.close();
    why = "the client was closed";
  }
  REQUIRE(observed.world.run_until([&] { return lease.lost().stop_requested(); }));
  CHECK(observed.told() == Lines{"lost InterProcessMutex /lock: " + why});
  CHECK(observed.records->token == lease.token());
  CHECK(observed.records->held_for > 0ns);
  lease.release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock: " + why});
}

TEST_CASE("observer: a lease that has come to its maximum time is lost by that") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.lease = {.hold_at_most = long_enough}}};
  Lease lease = observed.acquire(mutex);
  static_cast<void>(observed.told());
  REQUIRE(observed.world.run_until([&] { return lease.lost().stop_requested(); }));
  CHECK(observed.told() == Lines{"lost InterProcessMutex /lock: its maximum time is up"});
  CHECK(observed.records->held_for > 0ns);
  lease.release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock: its maximum time is up"});
}

TEST_CASE("observer: a cautious lease is lost with the connection") {
  Observed observed;
  InterProcessMutex mutex{
      *observed.mine, "/lock", {.lease = {.loss_policy = LossPolicy::on_suspended}}};
  Lease lease = observed.acquire(mutex);
  static_cast<void>(observed.told());
  observed.world.ensemble.disconnect(observed.mine->session().id);
  REQUIRE(observed.world.run_until([&] { return lease.lost().stop_requested(); }));
  CHECK(observed.told() == Lines{"lost InterProcessMutex /lock: the connection failed"});
  lease.release();
}

TEST_CASE("observer: a loss that nobody has noticed is told of before the release") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.lease = {.hold_at_most = long_enough}}};
  Lease lease = observed.acquire(mutex);
  static_cast<void>(observed.told());
  // The maximum time ends while nobody runs the client.
  std::this_thread::sleep_for(long_enough);
  lease.release();
  CHECK(observed.told() == Lines{"lost InterProcessMutex /lock: its maximum time is up",
                                 "released InterProcessMutex /lock: its maximum time is up"});
}

TEST_CASE("observer: a batch's next holder hears nothing of what its predecessor had") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.hand_off = HandOff::cohort(8)}};
  Lease first = observed.acquire(mutex);
  Outcome<Lease> second;
  mutex.async_acquire(second.handler());
  observed.world.settle();
  first.release();
  REQUIRE(observed.world.run_until_arrived(second));
  static_cast<void>(observed.told());
  observed.close();
  REQUIRE(observed.world.run_until([&] { return second.result().lost().stop_requested(); }));
  CHECK(observed.told() == Lines{"lost InterProcessMutex /lock: the client was closed"});
  CHECK(observed.records->token.grant == 1);
  second.result().release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock: the client was closed"});
}

// -- Retries --------------------------------------------------------------------------------------

TEST_CASE("observer: a read that fails is told of each time that it is tried again") {
  Observed observed;
  observed.world.make("/node");
  observed.fail_at({{0, {.kind = FaultKind::throttle}}, {1, {.kind = FaultKind::fail_after}}});
  const auto got = run<GetResult>(observed.world,
                                  [&](auto done) { observed.mine->async_get("/node", {}, done); });
  REQUIRE(got.arrived());
  CHECK_FALSE(got.error());
  CHECK(observed.retries() == Lines{"get /node 1", "get /node 2"});
  CHECK(observed.records->errors ==
        std::vector<error_code>{ServerErrc::throttled, ServerErrc::connection_loss});
  CHECK(observed.records->pause >= 0ms);
}

TEST_CASE("observer: a create whose reply is lost is told of, by its path in the namespace") {
  Observed observed{[](ClientOptions& options) { options.name_space = "app"; }};
  observed.world.make("/app");
  observed.fail_at({{0, {.kind = FaultKind::fail_after}}});
  const auto created = run<Created>(observed.world, [&](auto done) {
    observed.mine->async_create("/node-", {}, {.protection = Protection::by_unique_name}, done);
  });
  REQUIRE(created.arrived());
  CHECK_FALSE(created.error());
  // A request that is sent again may have to wait for a connection.
  const Lines told = observed.retries();
  REQUIRE_FALSE(told.empty());
  CHECK(told.front().starts_with("create /_c_"));
  CHECK(told.front().ends_with("-node- 1"));
  CHECK(observed.records->errors.front() == ServerErrc::connection_loss);
}

TEST_CASE("observer: a release whose reply is lost is told of, and one that is put off") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  const std::string node = lease.node();
  const FaultKind kind = GENERATE(FaultKind::fail_after, FaultKind::throttle);
  observed.fail_at({{0, {.kind = kind}}});
  lease.release();
  REQUIRE(observed.world.run_until_idle(*observed.mine));
  CHECK(observed.retries() == Lines{"remove " + node + " 1"});
}

TEST_CASE("observer: what is not tried again is no retry") {
  Observed observed;
  const auto got = run<GetResult>(observed.world,
                                  [&](auto done) { observed.mine->async_get("/none", {}, done); });
  REQUIRE(got.arrived());
  observed.fail_at({{0, {.kind = FaultKind::throttle}}});
  const auto once = run<GetResult>(observed.world, [&](auto done) {
    observed.mine->async_get("/none", {.retry = RetryPolicy::none()}, done);
  });
  REQUIRE(once.arrived());
  CHECK(observed.retries().empty());
}

// -- The connection -------------------------------------------------------------------------------

TEST_CASE("observer: the connection goes and comes back, and for how long it was away") {
  Observed observed;
  CHECK(observed.states() == Lines{"connected"});
  CHECK(observed.records->away > 0ns);
  const std::int64_t session = observed.mine->session().id;
  SECTION("with the session") {
    observed.world.ensemble.stop();
    REQUIRE(observed.world.run_until([&] { return !observed.records->states.empty(); }));
    CHECK(observed.states() == Lines{"suspended"});
    CHECK(observed.records->away == 0ns);
    std::this_thread::sleep_for(10ms);
    observed.world.ensemble.start();
    REQUIRE(observed.world.run_until([&] { return !observed.records->states.empty(); }));
    CHECK(observed.states() == Lines{"reconnected"});
    CHECK(observed.records->away >= 10ms);
  }
  SECTION("with another session") {
    observed.world.ensemble.expire(session);
    REQUIRE(observed.world.run_until([&] { return observed.records->states.size() == 3; }));
    CHECK(observed.states() == Lines{"suspended", "lost", "connected"});
    CHECK(observed.records->away > 0ns);
  }
  SECTION("for good") {
    observed.close();
    REQUIRE(observed.world.run_until([&] { return !observed.records->states.empty(); }));
    CHECK(observed.states() == Lines{"closed"});
    CHECK(observed.records->away == 0ns);
  }
}

// -- Where an observer is called, and what it may do ----------------------------------------------

/// An observer that throws at every event.
struct Throws final : Observer {
  void on_acquire_ended(const AcquireEnded&) override { raise(); }
  void on_lease_begun(const LeaseBegun&) override { raise(); }
  void on_lease_lost(const LeaseLost&) override { raise(); }
  void on_lease_released(const LeaseReleased&) override { raise(); }
  void on_operation_retried(const OperationRetried&) override { raise(); }
  void on_connection_changed(const ConnectionChanged&) override { raise(); }
  void raise() {
    ++times;
    if (times % 2 == 1) throw std::runtime_error{"cannot count"};
    throw times;  // NOLINT(hicpp-exception-baseclass)
  }
  int times = 0;
};

TEST_CASE("observer: one that throws is called on, breaks no lock, and is in the log once") {
  const auto throws = std::make_shared<Throws>();
  std::vector<std::string> errors;
  Observed observed{[&](ClientOptions& options) {
    options.observer = throws;
    options.log = [&](LogLevel level, std::string_view message) {
      if (level == LogLevel::error) errors.emplace_back(message);
    };
  }};
  InterProcessMutex mutex{*observed.mine, "/lock"};
  for (int i = 0; i < 3; ++i) {
    Lease lease = observed.acquire(mutex);
    CHECK(lease.state() == LeaseState::held);
    lease.release();
  }
  observed.world.settle();
  CHECK(throws->times == 10);
  CHECK(errors ==
        std::vector<std::string>{"the observer has thrown: cannot count; this is said once"});
}

TEST_CASE("observer: it is called on the callback executor, and nothing waits for it") {
  World world;
  boost::asio::io_context callbacks;
  const auto records = std::make_shared<Records>();
  ClientOptions options = world.options("mine");
  options.observer = records;
  options.callback_executor = callbacks.get_executor();
  auto client = world.client(options);
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto acquired = run<Lease>(world, [&](auto done) {
      mutex.async_acquire(boost::asio::bind_executor(world.context.get_executor(), done));
    });
    REQUIRE(acquired.arrived());
    acquired.result().release();
  }
  CHECK(world.run_until_idle(*client));
  CHECK(records->locks.empty());
  callbacks.poll();
  CHECK(records->locks == Lines{"begun InterProcessMutex /lock", "acquired InterProcessMutex /lock",
                                "released InterProcessMutex /lock"});
  const std::weak_ptr<detail::ClientCore> core = client->core();
  client.reset();
  for (const Deadline end{World::limit}; !core.expired() && !end.passed();) {
    world.settle();
    callbacks.restart();
    callbacks.poll();
  }
  CHECK(core.expired());
  CHECK(records->states == Lines{"connected", "closed"});
}

TEST_CASE("observer: a forked child tells it nothing") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  CHECK(observed.told().size() == 2);
  CHECK(in_child([&] {
    lease.release();
    Outcome<Lease> refused;
    mutex.async_acquire(refused.handler());
    tell_acquire_ended(observed.mine->core(), make_observed(observed.mine->core(), "mine", "/lock"),
                       AcquireOutcome::acquired, {}, BootClock::now(), 1);
    observed.world.settle();
    return observed.records->locks.empty();
  }));
  lease.release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock"});
}

}  // namespace
}  // namespace custodian::tests::observer_faults_test
