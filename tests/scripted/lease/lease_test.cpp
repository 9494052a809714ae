// Events of a lease other than losses: deleted nodes, the end of the client, waits, guarded writes.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "scripted/held.hpp"

namespace custodian::tests::lease_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("lease: a node that an operator deletes is missed with the next beat", "[timed]") {
  Held held;
  held.world.remove(held.lease.node());
  REQUIRE(held.world.run_until([&] { return held.lease.lost().stop_requested(); }));
  CHECK(held.lease.loss_reason() == LossReason::node_deleted);
  // The session is not affected.
  CHECK(is_connected(held.client->connection_state()));
  held.end();
}

TEST_CASE("lease: one of many that is deleted is told, and the others are not", "[timed]") {
  Held held;
  std::vector<std::unique_ptr<InterProcessMutex>> mutexes;
  std::vector<Lease> leases;
  for (int i = 0; i != 5; ++i) {
    mutexes.push_back(
        std::make_unique<InterProcessMutex>(*held.client, "/many/" + std::to_string(i)));
    auto acquired = run<Lease>(held.world, [&](auto done) { mutexes.back()->async_acquire(done); });
    REQUIRE(acquired.arrived());
    leases.push_back(std::move(acquired.result()));
  }
  held.world.remove(leases[1].node());
  held.world.remove(leases[3].node());
  REQUIRE(held.world.run_until(
      [&] { return leases[1].lost().stop_requested() && leases[3].lost().stop_requested(); }));
  held.pass(timeout);
  for (const std::size_t i : {0U, 2U, 4U}) CHECK(leases[i].state() == LeaseState::held);
  leases.clear();
  mutexes.clear();
  held.end();
}

TEST_CASE("lease: one that was granted after waiting is told of its node's deletion at once",
          "[timed]") {
  Held held;
  auto waiting = held.other_queues();
  held.lease.release();
  REQUIRE(held.world.run_until_arrived(waiting));
  // The lease's beats are ten minutes apart, so only its watch can notice this.
  held.world.remove(waiting.result().node());
  REQUIRE(held.world.run_until([&] { return waiting.result().lost().stop_requested(); }));
  CHECK(waiting.result().loss_reason() == LossReason::node_deleted);
  waiting.result().release();
  held.end();
}

TEST_CASE("lease: a waiter whose node an operator deletes is told while it waits", "[timed]") {
  Held held;
  auto waiting = held.other_queues();
  for (const std::string& name : held.world.ensemble.children(lock_path)) {
    const std::string node = std::string{lock_path} + "/" + name;
    if (node != held.lease.node()) held.world.remove(node);
  }
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK(waiting.error() == Errc::node_deleted);
  CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("lease: a node that cannot be checked does not cost the others their beats", "[timed]") {
  Held held;
  held.world.make("/closed");
  std::optional<InterProcessMutex> closed{std::in_place, *held.client, "/closed"};
  auto acquired = run<Lease>(held.world, [&](auto done) { closed->async_acquire(done); });
  REQUIRE(acquired.arrived());
  const std::string node = acquired.result().node();
  held.world.ensemble.refuse(node);
  held.pass(2 * timeout);
  CHECK(held.lease.state() == LeaseState::held);
  CHECK(acquired.result().state() == LeaseState::held);
  held.world.ensemble.permit(node);
  acquired.result().release();
  closed.reset();
  held.end();
}

TEST_CASE("lease: it stays held though its only node cannot be checked", "[timed]") {
  Held held;
  const std::string node = held.lease.node();
  held.world.ensemble.refuse(node);
  held.pass(2 * timeout);
  CHECK(held.lease.state() == LeaseState::held);
  held.world.ensemble.permit(node);
  held.end();
}

TEST_CASE("lease: a client that closes with a delete under way leaves nothing behind", "[timed]") {
  Held held;
  auto waiting = held.other_queues();
  held.lease.release();
  REQUIRE(held.world.run_until_arrived(waiting));
  // A lease that was granted after waiting has a watch on its node, which stays until the delete is
  // answered.
  waiting.result().release();
  held.others_mutex.reset();
  CHECK(held.world.end(held.other));
  held.mutex.reset();
  CHECK(held.world.end(held.client));
  CHECK(held.world.ensemble.sessions().empty());
}

TEST_CASE("lease: who closes with a lease is told before the servers are", "[timed]") {
  Held held;
  auto waiting = held.other_queues();
  bool granted_when_told = true;
  const std::stop_callback on_stop{held.lease.lost(),
                                   [&] { granted_when_told = waiting.arrived(); }};
  held.client.reset();
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK_FALSE(granted_when_told);
  CHECK(held.lease.loss_reason() == LossReason::closed);
  waiting.result().release();
  held.end();
}

TEST_CASE("lease: terms that cannot be kept are refused", "[timed]") {
  Held held;
  CHECK_THROWS_AS(InterProcessMutex(*held.client, "/x", {.lease = {.hold_at_most = 0ns}}), Error);
  AcquireOptions options;
  options.lease.hold_at_most = -1ns;
  auto refused =
      run<Lease>(held.world, [&](auto done) { held.mutex->async_acquire(options, done); });
  CHECK(refused.error() == Errc::invalid_argument);
  held.lease.release();
  options.lease.hold_at_most = std::chrono::nanoseconds::max();
  auto granted =
      run<Lease>(held.world, [&](auto done) { held.mutex->async_acquire(options, done); });
  CHECK(granted.result().state() == LeaseState::held);
  granted.result().release();
  held.end();
}

TEST_CASE("lease: closing the client loses it, before the servers are told", "[timed]") {
  Held held;
  held.client.reset();
  REQUIRE(held.world.run_until([&] { return held.lease.state() == LeaseState::lost; }));
  CHECK(held.lease.loss_reason() == LossReason::closed);
  held.end();
}

TEST_CASE("lease: it ends by itself after its maximum time, and the holder is told first",
          "[timed]") {
  // No beat can notice the end of the maximum time: beats are ten minutes apart.
  Held held{{.hold_at_most = timeout / 2}, 1h};
  auto waiting = held.other_queues();
  held.world.ensemble.clear_history();
  bool deleted_when_told = true;
  const std::stop_callback on_stop{held.lease.lost(), [&] {
                                     const auto sent = held.world.ensemble.history();
                                     deleted_when_told = !sent.empty();
                                   }};
  CHECK(held.lease.state() == LeaseState::held);
  CHECK(held.lease.remaining() <= timeout / 2);
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK_FALSE(deleted_when_told);
  CHECK(held.lease.loss_reason() == LossReason::held_too_long);
  CHECK(is_connected(held.client->connection_state()));
  waiting.result().release();
  held.end();
}

TEST_CASE("lease: a release is no loss", "[timed]") {
  Held held;
  const std::stop_token lost = held.lease.lost();
  Outcome<> waiting;
  held.lease.async_wait_lost(waiting.handler());
  held.world.settle();
  held.lease.release();
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK(waiting.error() == asio::error::operation_aborted);
  held.pass(2 * timeout);
  CHECK_FALSE(lost.stop_requested());
  held.end();
}

TEST_CASE("lease: a read of its node that waits for a connection ends with it") {
  Held held{{}, 1h};
  held.world.ensemble.stop();
  held.world.settle();
  const Subscription listening = held.lease.make_revocable([] {});
  held.world.settle();
  held.lease.release();
  held.world.ensemble.clear_history();
  held.world.ensemble.start();
  held.end();
  CHECK(count(held.world.ensemble.history(), "get") == 0);
}

TEST_CASE("lease: a wait for its state is cancelled", "[timed]") {
  Held held;
  asio::cancellation_signal signal;
  Outcome<LeaseState> waiting;
  held.lease.async_wait_state(LeaseState::held,
                              asio::bind_cancellation_slot(signal.slot(), waiting.handler()));
  held.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK(waiting.error() == asio::error::operation_aborted);
  CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("lease: to assert that it is held is to ask a quorum", "[timed]") {
  Held held;
  held.world.ensemble.clear_history();
  Outcome<> asked;
  held.lease.async_assert_held(asked.handler());
  REQUIRE(held.world.run_until_arrived(asked));
  CHECK_FALSE(asked.error());
  CHECK(count(held.world.ensemble.history(), "multi") >= 1);
  held.world.remove(held.lease.node());
  Outcome<> again;
  held.lease.async_assert_held(again.handler());
  REQUIRE(held.world.run_until_arrived(again));
  CHECK(again.error() == Errc::lock_lost);
  CHECK(held.lease.loss_reason() == LossReason::node_deleted);
  held.end();
}

TEST_CASE("lease: a guarded write lands while it is held, and not when its node is gone",
          "[timed]") {
  Held held;
  held.world.make("/register");
  const auto write = [&](std::string value) {
    const Transaction guarded{held.lease.check(), set("/register", std::move(value))};
    return run<std::vector<TransactionResult>>(
        held.world, [&](auto done) { held.client->async_commit(guarded, {}, done); });
  };
  CHECK_FALSE(write("mine").error());
  held.world.remove(held.lease.node());
  CHECK(write("stale").error() == ServerErrc::no_node);
  CHECK(held.world.ensemble.operate(request::Get{"/register"}).data == "mine");
  held.end();
}

TEST_CASE("lease: one that is assigned another is no holder of its own lock any more") {
  Held held;
  Lease shared = held.lease.share();
  REQUIRE(held.lease.hold_count() == 2);
  shared = Lease{};
  CHECK(held.lease.hold_count() == 1);
  CHECK(held.lease.state() == LeaseState::held);
  held.lease = Lease{};
  CHECK(held.world.run_until([&] { return held.world.ensemble.children(lock_path).empty(); }));
  held.end();
}

}  // namespace
}  // namespace custodian::tests::lease_test
