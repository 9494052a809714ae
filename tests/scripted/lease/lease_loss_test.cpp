// Leases and the lease clock: suspension, loss, and sessions that the client gives up.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "scripted/held.hpp"

namespace custodian::tests::lease_loss_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("lease: it stays held while its session beats", "[timed]") {
  Held held;
  held.pass(2 * timeout);
  CHECK(held.lease.state() == LeaseState::held);
  CHECK(held.lease.loss_reason() == LossReason::none);
  CHECK(held.lease.remaining() > timeout / 3);
  CHECK(held.lease.remaining() <= timeout);
  CHECK_FALSE(held.lease.lost().stop_requested());
  held.end();
}

TEST_CASE("lease: without a connection it is suspended at once, and held again with the next",
          "[timed]") {
  Held held;
  std::vector<LeaseState> told;
  const Subscription listening = held.lease.on_state([&](LeaseState now) { told.push_back(now); });
  held.world.ensemble.stop();
  CHECK(held.world.run_until([&] { return !told.empty(); }));
  CHECK(held.lease.state() == LeaseState::suspended);
  CHECK(held.lease.remaining() > 0ns);
  held.world.ensemble.start();
  CHECK(held.world.run_until([&] { return told.size() == 2; }));
  CHECK(told == std::vector{LeaseState::suspended, LeaseState::held});
  held.pass(2 * timeout);
  CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("lease: a connection that breaks gains it no time", "[timed]") {
  Held held;
  held.pass(timeout / 2);
  held.world.settle();
  const auto rest = held.lease.remaining();
  const auto before = BootClock::now() + rest;
  held.world.ensemble.stop();
  REQUIRE(held.world.run_until([&] { return held.lease.state() == LeaseState::suspended; }));
  const auto now = BootClock::now();
  CHECK(now + held.lease.remaining() <= before);
  held.world.ensemble.start();
  held.end();
}

TEST_CASE("lease: a server that falls silent is left, also by who holds nothing", "[timed]") {
  const bool holds = GENERATE(true, false);
  Held held;
  if (!holds) held.lease.release();
  REQUIRE(held.world.run_until_idle(*held.client));
  std::vector<ConnectionState> states;
  const Subscription listening =
      held.client->on_connection_state([&](ConnectionState state) { states.push_back(state); });
  // Neither the next beat nor any request after it is answered.
  held.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("holder", Faults{{0, {.kind = FaultKind::delay}}}));
  REQUIRE(held.world.run_until([&] { return states.size() >= 2; }));
  CHECK(states.front() == ConnectionState::suspended);
  CHECK(states.back() == ConnectionState::reconnected);
  if (holds) CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("lease: it is lost when its clock has run out, for ever, and the holder is told",
          "[timed]") {
  Held held;
  const std::int64_t session = held.client->session().id;
  auto waiting = held.other_queues();
  Outcome<> lost;
  held.lease.async_wait_lost(lost.handler());
  bool stopped = false;
  const std::stop_callback on_stop{held.lease.lost(), [&] { stopped = true; }};
  held.world.ensemble.stop();
  REQUIRE(held.world.run_until([&] { return stopped && lost.arrived(); }));
  CHECK_FALSE(lost.error());
  CHECK(held.lease.state() == LeaseState::lost);
  CHECK(held.lease.loss_reason() == LossReason::lease_expired);
  CHECK(held.lease.remaining() == 0ns);

  // The servers can be reached again, and have not ended the session.
  held.world.ensemble.start();
  REQUIRE(held.world.run_until([&] { return is_connected(held.client->connection_state()); }));
  CHECK(held.lease.state() == LeaseState::lost);
  CHECK(held.client->session().id != session);
  CHECK_THROWS_AS(static_cast<void>(held.mutex->acquire(held.lease)), Error);
  held.pass(timeout);
  CHECK_FALSE(waiting.arrived());

  // The session ends, and the lock passes on, only when the holder has released its lost lease.
  held.lease.release();
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK(waiting.result().state() == LeaseState::held);
  waiting.result().release();
  held.lease = held.acquire();
  CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("lease: a session that is given up serves nobody, and its waiters queue again",
          "[timed]") {
  Held held;
  held.world.make("/two");
  std::optional<InterProcessMutex> second{std::in_place, *held.other, "/two"};
  auto others = run<Lease>(held.world, [&](auto done) { second->async_acquire(done); });
  REQUIRE(others.arrived());
  // The holder of one lock waits for another.
  std::optional<InterProcessMutex> wanted{std::in_place, *held.client, "/two"};
  bool requeued = false;
  bool waits = false;
  AcquireOptions options;
  options.on_position = [&](auto&&...) { waits = true; };
  options.on_requeued = [&] { requeued = true; };
  Outcome<Lease> waiting;
  wanted->async_acquire(options, waiting.handler());
  REQUIRE(held.world.run_until([&] { return waits; }));

  const std::int64_t given_up = held.client->session().id;
  held.world.ensemble.stop();
  REQUIRE(held.world.run_until([&] { return held.lease.state() == LeaseState::lost; }));
  held.world.ensemble.start();
  REQUIRE(held.world.run_until([&] { return requeued; }));
  // The lost lease of the first lock keeps the old session alive, but its node in the second lock's
  // queue is gone.
  REQUIRE(held.world.run_until([&] { return held.world.ensemble.is_connected(given_up); }));
  others.result().release();
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK_FALSE(waiting.error());
  CHECK(held.lease.state() == LeaseState::lost);
  waiting.result().release();
  second.reset();
  wanted.reset();
  held.end();
}

TEST_CASE("lease: a loss that was once said is not taken back by an answer that comes late",
          "[timed]") {
  Held held;
  held.pass(timeout / 2);
  const auto plan = std::make_shared<FaultsAt>("holder", Faults{{0, {.kind = FaultKind::delay}}});
  held.world.ensemble.set_fault_plan(plan);
  REQUIRE(held.world.run_until([&] { return plan->steps() == 1; }));
  // This thread runs nothing until the lease has expired. The answer to a beat arrives meanwhile:
  // if it had been read in time, it would have renewed the lease.
  for (const Deadline end{2 * timeout}; held.lease.remaining() > 0ns && !end.passed();) {
    std::this_thread::sleep_for(1ms);
  }
  CHECK(held.lease.state() == LeaseState::lost);
  held.world.ensemble.release_replies();
  held.world.settle();
  CHECK(held.lease.state() == LeaseState::lost);
  CHECK(held.lease.loss_reason() == LossReason::lease_expired);
  CHECK(held.lease.lost().stop_requested());
  held.end();
}

TEST_CASE("lease: a session that is given up and stays out of reach is left to the servers",
          "[timed]") {
  Held held;
  const std::int64_t session = held.client->session().id;
  held.world.ensemble.stop();
  REQUIRE(held.world.run_until([&] { return held.lease.lost().stop_requested(); }));
  held.pass(timeout + timeout / 5);
  held.world.ensemble.start();
  REQUIRE(held.world.run_until([&] { return is_connected(held.client->connection_state()); }));
  held.pass(timeout / 5);
  // The client did not reconnect to end the old session: the servers must expire it.
  held.lease.release();
  REQUIRE(held.world.run_until_idle(*held.client));
  held.pass(timeout / 5);
  const auto alive = held.world.ensemble.sessions();
  CHECK(std::ranges::find(alive, session) != alive.end());
  held.world.ensemble.expire(session);
  held.end();
}

TEST_CASE("lease: a cautious one is lost as soon as the connection fails", "[timed]") {
  Held held{{.loss_policy = LossPolicy::on_suspended}};
  const std::int64_t session = held.client->session().id;
  held.world.ensemble.disconnect(session);
  REQUIRE(held.world.run_until([&] { return held.lease.lost().stop_requested(); }));
  CHECK(held.lease.loss_reason() == LossReason::suspended);
  CHECK(held.client->session().id == session);
  held.lease.release();
  CHECK(held.world.run_until([&] { return held.world.ensemble.children(lock_path).empty(); }));
  held.end();
}

TEST_CASE("lease: one that is lost and not let go does not cost the session", "[timed]") {
  Held held;
  const std::int64_t session = held.client->session().id;
  held.world.remove(held.lease.node());
  REQUIRE(held.world.run_until([&] { return held.lease.lost().stop_requested(); }));
  held.pass(2 * timeout);
  CHECK(held.client->session().id == session);
  held.end();
}

TEST_CASE("lease: a session that ends is told, and its leases are lost", "[timed]") {
  Held held;
  held.world.ensemble.expire(held.client->session().id);
  REQUIRE(held.world.run_until([&] { return held.lease.lost().stop_requested(); }));
  CHECK(held.lease.loss_reason() == LossReason::session_over);
  held.end();
}

}  // namespace
}  // namespace custodian::tests::lease_loss_test
