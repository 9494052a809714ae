// An observer's events of acquires, with each of their endings, and of their leases.

#include "custodian/observer.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/observe/observed.hpp"

namespace custodian::tests::observer_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Lines = Records::Lines;

void pass(World& world, std::chrono::milliseconds time) {
  asio::steady_timer timer{world.context, time};
  bool passed = false;
  timer.async_wait([&](error_code) { passed = true; });
  REQUIRE(world.run_until([&] { return passed; }));
}

TEST_CASE("observer: a lease is told of from its acquire to its release") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  CHECK(observed.told() ==
        Lines{"begun InterProcessMutex /lock", "acquired InterProcessMutex /lock"});
  CHECK(observed.records->token == lease.token());
  CHECK(observed.records->waited > 0ns);
  lease.release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock"});
  CHECK(observed.records->held_for > 0ns);
}

TEST_CASE("observer: how long was waited, and how long held") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  InterProcessMutex others{*observed.other, "/lock"};
  Lease held = observed.acquire(others);
  Outcome<Lease> waiting;
  mutex.async_acquire(waiting.handler());
  pass(observed.world, 20ms);
  held.release();
  REQUIRE(observed.world.run_until_arrived(waiting));
  observed.world.settle();
  CHECK(observed.records->waited >= 15ms);
  pass(observed.world, 20ms);
  waiting.result().release();
  observed.world.settle();
  CHECK(observed.records->held_for >= 15ms);
}

TEST_CASE("observer: an acquire without a lease is late, declined, cancelled or failed") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  InterProcessMutex others{*observed.other, "/lock"};
  const Lease held = observed.acquire(others);
  SECTION("late") {
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(long_enough, late.handler());
    REQUIRE(observed.world.run_until_arrived(late));
    CHECK(observed.told() == Lines{"late InterProcessMutex /lock"});
    CHECK(observed.records->waited > 0ns);
  }
  SECTION("declined") {
    Outcome<AcquireResult> tried;
    mutex.async_try_acquire(tried.handler());
    REQUIRE(observed.world.run_until_arrived(tried));
    CHECK(observed.told() == Lines{"declined InterProcessMutex /lock"});
  }
  SECTION("cancelled") {
    asio::cancellation_signal signal;
    Outcome<Lease> given_up;
    mutex.async_acquire(asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
    observed.world.settle();
    signal.emit(asio::cancellation_type::total);
    REQUIRE(observed.world.run_until_arrived(given_up));
    CHECK(observed.told() == Lines{"cancelled InterProcessMutex /lock: " +
                                   make_error_code(asio::error::operation_aborted).message()});
  }
  SECTION("ended by its client") {
    Outcome<Lease> ended;
    mutex.async_acquire(ended.handler());
    observed.world.settle();
    observed.close();
    REQUIRE(observed.world.run_until_arrived(ended));
    CHECK(observed.told() == Lines{"cancelled InterProcessMutex /lock: the client is closed"});
  }
  SECTION("failed") {
    observed.world.ensemble.refuse("/lock");
    Outcome<Lease> refused;
    mutex.async_acquire(refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
    CHECK(observed.told() ==
          Lines{"failed InterProcessMutex /lock: not allowed by the node's ACL"});
    CHECK(observed.records->error == ServerErrc::no_auth);
    observed.world.ensemble.permit("/lock");
  }
  SECTION("never let in to the queue") {
    observed.world.ensemble.stop();
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(10ms, late.handler());
    REQUIRE(observed.world.run_until_arrived(late));
    CHECK(observed.told().front().starts_with("failed InterProcessMutex /lock: the deadline"));
    observed.world.ensemble.start();
  }
}

TEST_CASE("observer: an acquire that is refused at once was none") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  SECTION("for a mistake") {
    AcquireOptions never;
    never.lease.hold_at_most = 0ns;
    Outcome<Lease> refused;
    mutex.async_acquire(never, refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
  }
  SECTION("by a client that is closed") {
    observed.close();
    Outcome<Lease> refused;
    mutex.async_acquire(refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
  }
  CHECK(observed.told().empty());
}

TEST_CASE("observer: re-entry is no acquire, and the lease ends with the last of its shares") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  CHECK(observed.told().size() == 2);
  auto again = run<Lease>(observed.world, [&](auto done) { mutex.async_acquire(lease, done); });
  REQUIRE(again.arrived());
  lease.release();
  CHECK(observed.told().empty());
  again.result().release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock"});
}

TEST_CASE("observer: who stands in line again with another session acquires once") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  InterProcessMutex others{*observed.other, "/lock"};
  Lease held = observed.acquire(others);
  bool requeued = false;
  AcquireOptions options;
  options.on_requeued = [&] { requeued = true; };
  Outcome<Lease> waiting;
  mutex.async_acquire(options, waiting.handler());
  observed.world.settle();
  observed.world.ensemble.expire(observed.mine->session().id);
  REQUIRE(observed.world.run_until([&] { return requeued; }));
  CHECK(observed.told().empty());
  held.release();
  REQUIRE(observed.world.run_until_arrived(waiting));
  CHECK(observed.told() ==
        Lines{"begun InterProcessMutex /lock", "acquired InterProcessMutex /lock"});
  waiting.result().release();
}

TEST_CASE("observer: a lease that comes too late for its caller is told of, and its release") {
  Observed observed;
  InterProcessSemaphore semaphore{*observed.mine, "/permits", 2};
  // The session ends when both permits have a node, before the acquire has returned them.
  observed.world.settle();
  const auto plan = std::make_shared<FaultsAt>("mine");
  int granted = 0;
  plan->replied = [&](std::size_t) {
    const auto leases = observed.world.ensemble.children("/permits/leases");
    if (leases.size() == 2 && granted++ == 0) {
      observed.world.ensemble.expire(observed.mine->session().id);
    }
  };
  observed.world.ensemble.set_fault_plan(plan);
  auto acquired =
      run<std::vector<Lease>>(observed.world, [&](auto done) { semaphore.async_acquire(2, done); });
  REQUIRE(acquired.arrived());
  CHECK_FALSE(acquired.error());
  acquired.result().clear();
  const Lines told = observed.told();
  const auto begun = std::ranges::count(told, "begun InterProcessSemaphore /permits");
  const auto ended = std::ranges::count_if(
      told, [](const std::string& line) { return line.starts_with("released "); });
  CHECK(begun == ended);
  CHECK(std::ranges::count(told, "acquired InterProcessSemaphore /permits x2") == 1);
}

}  // namespace
}  // namespace custodian::tests::observer_test
