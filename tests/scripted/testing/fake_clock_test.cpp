// A clock that the test moves: leases and sessions to the nanosecond.

#include <optional>
#include <stop_token>

#include "scripted/testing/timed.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_clock_test {
namespace {

using namespace std::chrono_literals;
using timed::clock_of_a_lease;
using timed::Timed;
using timed::timeout;

TEST_CASE("fake clock: who is cut off is suspended, and lost at the nanosecond", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  CHECK(lease.remaining() == clock_of_a_lease);
  timed.world.ensemble.cut_off("holder");
  timed.advance(0ns);
  CHECK(lease.state() == LeaseState::suspended);
  timed.advance(clock_of_a_lease - 1ns);
  CHECK(lease.state() == LeaseState::suspended);
  CHECK(lease.remaining() == 1ns);
  CHECK_FALSE(lease.lost().stop_requested());
  timed.advance(1ns);
  CHECK(lease.lost().stop_requested());
  CHECK(lease.state() == LeaseState::lost);
  CHECK(lease.loss_reason() == LossReason::lease_expired);
  CHECK(lease.remaining() == 0ns);
  lease.release();
  timed.world.ensemble.let_in("holder");
  timed.end();
}

TEST_CASE("fake clock: the servers end a session after its timeout, and its holder knows before",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const std::int64_t session = timed.client->session().id;
  const auto granted = timed.other_queues();
  std::optional<BootClock::time_point> lost;
  const std::stop_callback on_lost{lease.lost(), [&] { lost = timed.clock->now(); }};
  const auto begin = timed.clock->now();
  timed.world.ensemble.cut_off("holder");
  timed.advance(timeout - 1ns);
  CHECK(lost == begin + clock_of_a_lease);
  CHECK_FALSE(*granted);
  timed.advance(1ns);
  CHECK(*granted == begin + timeout);
  CHECK(timed.others_lease.state() == LeaseState::held);
  // Connected again, the holder learns that its session has expired.
  timed.world.ensemble.let_in("holder");
  timed.advance(0ns);
  CHECK(is_connected(timed.client->connection_state()));
  CHECK(timed.client->session().id != session);
  CHECK(lease.state() == LeaseState::lost);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: however long the step, all of it happens in its order", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  std::optional<BootClock::time_point> lost;
  const std::stop_callback on_lost{lease.lost(), [&] { lost = timed.clock->now(); }};
  const auto begin = timed.clock->now();
  timed.world.ensemble.cut_off("holder");
  timed.advance(1min);
  CHECK(lost == begin + clock_of_a_lease);
  CHECK(*granted == begin + timeout);
  CHECK(timed.clock->now() == begin + 1min);
  lease.release();
  timed.world.ensemble.let_in("holder");
  timed.end();
}

TEST_CASE("fake clock: what a client does at the last moment is in time", "[fake_clock]") {
  Timed timed;
  const std::int64_t session = timed.other->session().id;
  const auto executor = timed.world.context.get_executor();
  const auto alarm =
      timed.clock->make_alarm({executor, executor}, [&] { timed.world.ensemble.let_in("other"); });
  alarm->set(timed.clock->now() + timeout);
  timed.world.ensemble.cut_off("other");
  timed.advance(1min);
  CHECK(timed.other->session().id == session);
  timed.end();
}

TEST_CASE("fake clock: who is connected keeps a lease for hours", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto sessions = timed.world.ensemble.sessions();
  timed.advance(3h);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.remaining() > timeout / 2);
  CHECK(lease.remaining() <= clock_of_a_lease);
  CHECK(timed.world.ensemble.sessions() == sessions);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a connection that is cut is back before time passes", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  timed.world.ensemble.disconnect(timed.client->session().id);
  timed.advance(1min);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a lease with a maximum time ends at its end", "[fake_clock]") {
  Timed timed{{.hold_at_most = 30s}};
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  timed.advance(30s - 1ns);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.remaining() == 1ns);
  timed.advance(1ns);
  CHECK(lease.loss_reason() == LossReason::held_too_long);
  CHECK(lease.lost().stop_requested());
  CHECK(*granted == timed.clock->now());
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a server that falls silent is left in time to keep the lease",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const std::int64_t session = timed.client->session().id;
  timed.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("holder", Faults{{0, {.kind = FaultKind::delay}}}));
  std::vector<ConnectionState> states;
  const Subscription listening =
      timed.client->on_connection_state([&](ConnectionState state) { states.push_back(state); });
  timed.advance(timeout);
  CHECK(states == std::vector{ConnectionState::suspended, ConnectionState::reconnected});
  CHECK(lease.state() == LeaseState::held);
  CHECK(timed.client->session().id == session);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a session that is given up lives while its holder does not let go",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  timed.world.ensemble.cut_off("holder");
  timed.advance(clock_of_a_lease);
  CHECK(lease.state() == LeaseState::lost);
  timed.world.ensemble.let_in("holder");
  timed.advance(5min);
  CHECK(lease.state() == LeaseState::lost);
  CHECK_FALSE(*granted);
  lease.release();
  timed.advance(0ns);
  CHECK(*granted);
  timed.end();
}

}  // namespace
}  // namespace custodian::tests::fake_clock_test
