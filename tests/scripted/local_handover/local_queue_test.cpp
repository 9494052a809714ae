// Waiters in a client's local queue: their outcome, and what they leave behind.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <string>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::local_queue_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("local line: who is late is told who was in the way") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(brief_limit, late.handler());
    REQUIRE(world.run_until_arrived(late));
    CHECK_FALSE(late.error());
    CHECK_FALSE(late.result().lease);
    REQUIRE(late.result().blocked_by);
    CHECK(late.result().blocked_by->node == first.result().node());
    first.result().release();
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: who is in time keeps nothing waiting for its deadline") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<AcquireResult> waits;
    mutex.async_try_acquire_for(1h, waits.handler());
    world.settle();
    first.result().release();
    REQUIRE(world.run_until_arrived(waits));
    CHECK(waits.result().lease);
    waits.result().lease.release();
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: who gives up while it lists need not wait for the servers") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    // The create is answered; the listing after it is not.
    const auto plan =
        std::make_shared<FaultsAt>("mine", Faults{{1, {.kind = FaultKind::fail_before}}});
    plan->replied = [&world](std::size_t reply) {
      if (reply == 0) world.ensemble.stop();
    };
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    first.result().release();
    REQUIRE(world.run_until_idle(*client));
    world.ensemble.set_fault_plan(plan);
    boost::asio::cancellation_signal signal;
    Outcome<Lease> given_up;
    mutex.async_acquire(boost::asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
    REQUIRE(world.run_until([&] { return !is_connected(client->connection_state()); }));
    CHECK_FALSE(given_up.arrived());
    signal.emit(boost::asio::cancellation_type::all);
    CHECK(world.run_until_arrived(given_up));
    CHECK_FALSE(is_connected(client->connection_state()));
    world.ensemble.start();
    REQUIRE(world.run_until_arrived(given_up));
    CHECK(given_up.error() == boost::asio::error::operation_aborted);
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: whose session is over is told so without another connection") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    AcquireOptions options;
    options.requeue = RequeuePolicy::fail;
    Outcome<Lease> waiting;
    mutex.async_acquire(options, waiting.handler());
    world.settle();
    const Subscription states = client->on_connection_state([&world](ConnectionState state) {
      if (state == ConnectionState::lost) world.ensemble.stop();
    });
    world.ensemble.expire(client->session().id);
    CHECK(world.run_until_arrived(waiting));
    CHECK_FALSE(is_connected(client->connection_state()));
    world.ensemble.start();
    REQUIRE(world.run_until_arrived(waiting));
    CHECK(waiting.error() == Errc::session_lost);
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: who waits behind its own client for a session timeout is warned of, once") {
  World world;
  std::vector<std::string> warnings;
  ClientOptions options = world.options("mine");
  options.session_timeout = 2s;
  options.touch_interval = 100ms;
  options.log = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings.emplace_back(message);
  };
  auto client = world.client(options);
  options.log = nullptr;
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<Lease> second;
    mutex.async_acquire(second.handler());
    Outcome<Lease> third;
    mutex.async_acquire(third.handler());
    REQUIRE(world.run_until([&] { return !warnings.empty(); }));
    CHECK_FALSE(second.arrived());
    CHECK(warnings.front().find(first.result().node()) != std::string::npos);
    CHECK(warnings.front().find("waits for itself") != std::string::npos);
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(brief_limit, late.handler());
    REQUIRE(world.run_until_arrived(late));
    REQUIRE(late.result().blocked_by);
    CHECK(late.result().blocked_by->own);
    first.result().release();
    REQUIRE(world.run_until_arrived(second));
    second.result().release();
    REQUIRE(world.run_until_arrived(third));
    third.result().release();
  }
  CHECK(world.end(client));
  CHECK(warnings.size() == 1);
}

}  // namespace
}  // namespace custodian::tests::local_queue_test
