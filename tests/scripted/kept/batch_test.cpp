// A lock that its process passes on among its own waiters (HandOff::cohort).

#include <deque>
#include <thread>

#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/held.hpp"
#include "scripted/kept/batches.hpp"

namespace custodian::tests::batch_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

TEST_CASE("batch: the lock passes on without a word to the servers") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  auto third = batches.queue();
  const FencingToken token = first.result().token();
  const std::string node = first.result().node();
  batches.world.ensemble.clear_history();
  first.result().release();
  REQUIRE(batches.holds(second));
  CHECK_FALSE(third.arrived());
  CHECK(second.result().token() > token);
  CHECK(second.result().token() == FencingToken{token.epoch, token.value, 1});
  CHECK(second.result().node() == node);
  second.result().release();
  REQUIRE(batches.holds(third));
  CHECK(third.result().token() == FencingToken{token.epoch, token.value, 2});
  CHECK(batches.world.ensemble.history().empty());
  third.result().release();
}

TEST_CASE("batch: after so many passes it is the turn of whoever came first of all") {
  Batches batches{1};
  auto first = batches.hold();
  auto others = batches.queue_other();
  std::deque<Batches::Place> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(batches.queue());
  first.result().release();
  CHECK(batches.holds(waiting[0]));
  waiting[0].result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(waiting[1].arrived());
  others.result().release();
  REQUIRE(batches.holds(waiting[1]));
  CHECK(waiting[1].result().token() > others.result().token());
  CHECK(waiting[1].result().token().grant == 0);
  waiting[1].result().release();
  CHECK(batches.holds(waiting[2]));
  waiting[2].result().release();
}

TEST_CASE(
    "batch: a few nodes stand for any number of those who wait, and one for the holder alone") {
  Batches batches{1};
  auto first = batches.hold();
  CHECK(batches.nodes() == 1);
  std::deque<Batches::Place> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(batches.queue());
  CHECK(batches.nodes() == 5);
  first.result().release();
  for (auto& each : waiting) {
    REQUIRE(batches.holds(each));
    CHECK(batches.nodes() <= 5);
    each.result().release();
  }
  batches.world.settle();
  CHECK(batches.nodes() == 0);
}

TEST_CASE("batch: who holds a lease of the last holder learns nothing of the next one's") {
  Batches batches;
  auto first = batches.hold();
  const std::stop_token lost = first.result().lost();
  std::vector<LeaseState> told;
  const Subscription listening =
      first.result().on_state([&](LeaseState state) { told.push_back(state); });
  Outcome<> loss;
  first.result().async_wait_lost(loss.handler());
  auto second = batches.queue();
  first.result().release();
  REQUIRE(batches.holds(second));
  REQUIRE(batches.world.run_until_arrived(loss));
  CHECK(loss.error() == asio::error::operation_aborted);
  batches.world.ensemble.expire(batches.mine->session().id);
  REQUIRE(batches.world.run_until([&] { return second.result().lost().stop_requested(); }));
  CHECK_FALSE(lost.stop_requested());
  CHECK(told.empty());
}

TEST_CASE("batch: each lease on a hold keeps the lock") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  Lease shared = first.result().share();
  first.result().release();
  CHECK_FALSE(batches.holds(second));
  shared.release();
  CHECK(batches.holds(second));
  CHECK(second.result().hold_count() == 1);
  second.result().release();
}

TEST_CASE("batch: a lost node is not passed on, and who lets go of it late lets nobody in") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  batches.world.ensemble.expire(batches.mine->session().id);
  REQUIRE(batches.world.run_until([&] { return first.result().state() == LeaseState::lost; }));
  REQUIRE(batches.world.run_until_arrived(second));
  auto third = batches.queue();
  CHECK(second.result().token().value > first.result().token().value);
  first.result().release();
  CHECK_FALSE(batches.holds(third));
  second.result().release();
  CHECK(batches.holds(third));
  third.result().release();
}

TEST_CASE("batch: a node of a connection that is gone is not passed on") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  batches.world.ensemble.stop();
  REQUIRE(batches.world.run_until([&] { return first.result().state() == LeaseState::suspended; }));
  const FencingToken token = first.result().token();
  first.result().release();
  CHECK_FALSE(second.arrived());
  batches.world.ensemble.start();
  REQUIRE(batches.world.run_until_arrived(second));
  CHECK(second.result().token().value > token.value);
  second.result().release();
}

TEST_CASE("batch: a node whose lease is near its end is not passed on", "[timed]") {
  Held held;
  held.lease.release();
  {
    InterProcessMutex mutex{*held.client, lock_path, {.hand_off = HandOff::cohort(8)}};
    auto first = run<Lease>(held.world, [&](auto done) { mutex.async_acquire(done); });
    Outcome<Lease> second;
    mutex.async_acquire(second.handler());
    held.world.settle();
    const FencingToken token = first.result().token();
    // The process stands still, and its connection with it.
    std::this_thread::sleep_for(timeout * 13 / 20);
    REQUIRE(first.result().state() == LeaseState::held);
    CHECK(first.result().remaining() < timeout / 3);
    first.result().release();
    REQUIRE(held.world.run_until_arrived(second));
    REQUIRE_FALSE(second.error());
    CHECK(second.result().token().value > token.value);
    CHECK(second.result().remaining() > timeout / 3);
    second.result().release();
  }
  held.end();
}

TEST_CASE("batch: who is let in just when the node is lost, or its connection, is told") {
  Batches batches;
  auto first = batches.hold();
  detail::LockNodePtr node;
  detail::set_pass_on(detail::lock_node(first.result()),
                      [&](detail::LockNodePtr passed) { node = std::move(passed); }, {});
  first.result().release();
  REQUIRE(node);
  std::vector<LeaseState> told;
  const auto listen = [&](const Lease& lease) {
    return lease.on_state([&](LeaseState state) { told.push_back(state); });
  };
  SECTION("its connection") {
    batches.world.ensemble.stop();
    batches.world.settle();
    Lease next = detail::next_lease(node);
    const Subscription listening = listen(next);
    REQUIRE(batches.world.run_until([&] { return !told.empty(); }));
    CHECK(told.front() == LeaseState::suspended);
    batches.world.ensemble.start();
    REQUIRE(batches.world.run_until([&] { return told.size() == 2; }));
    CHECK(told.back() == LeaseState::held);
  }
  SECTION("the node") {
    batches.world.ensemble.expire(batches.mine->session().id);
    batches.world.settle();
    Lease next = detail::next_lease(node);
    const Subscription listening = listen(next);
    REQUIRE(batches.world.run_until([&] { return next.lost().stop_requested() && !told.empty(); }));
    CHECK(told == std::vector{LeaseState::lost});
  }
  node.reset();
}

TEST_CASE("batch: who was let in is told when the connection fails") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  first.result().release();
  REQUIRE(batches.holds(second));
  std::vector<LeaseState> told;
  const Subscription listening =
      second.result().on_state([&](LeaseState state) { told.push_back(state); });
  batches.world.ensemble.stop();
  REQUIRE(batches.world.run_until([&] { return !told.empty(); }));
  CHECK(told.front() == LeaseState::suspended);
  batches.world.ensemble.start();
  REQUIRE(batches.world.run_until([&] { return told.size() == 2; }));
  CHECK(told.back() == LeaseState::held);
  second.result().release();
}

TEST_CASE("batch: the node is given up when somebody asks its holder to") {
  Batches batches;
  auto first = batches.hold();
  auto others = batches.queue_other();
  auto second = batches.queue();
  bool asked = false;
  const Subscription listening = first.result().make_revocable([&] { asked = true; });
  const auto asks = run<bool>(
      batches.world, [&](auto done) { async_revoke(*batches.other, first.result().node(), done); });
  CHECK(asks.result());
  REQUIRE(batches.world.run_until([&] { return asked; }));
  first.result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: a writer that reads besides lets no other writer in") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock", {.hand_off = HandOff::cohort(8)}};
    auto writer = run<Lease>(world, [&](auto done) { lock.write().async_acquire(done); });
    Outcome<Lease> next;
    lock.write().async_acquire(next.handler());
    world.settle();
    auto reader =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writer.result(), done); });
    REQUIRE_FALSE(reader.error());
    writer.result().release();
    world.settle();
    CHECK_FALSE(next.arrived());
    CHECK(reader.result().state() == LeaseState::held);
    reader.result().release();
    REQUIRE(world.run_until_arrived(next));
    CHECK_FALSE(next.error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("batch: readers stand in the queue themselves, and writers pass on before them") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock", {.hand_off = HandOff::cohort(1)}};
    auto writer = run<Lease>(world, [&](auto done) { lock.write().async_acquire(done); });
    Outcome<Lease> reader;
    lock.read().async_acquire(reader.handler());
    world.settle();
    Outcome<Lease> second;
    Outcome<Lease> third;
    lock.write().async_acquire(second.handler());
    lock.write().async_acquire(third.handler());
    world.settle();
    writer.result().release();
    world.settle();
    CHECK(second.arrived());
    CHECK_FALSE(reader.arrived());
    second.result().release();
    REQUIRE(world.run_until_arrived(reader));
    CHECK_FALSE(third.arrived());
    reader.result().release();
    REQUIRE(world.run_until_arrived(third));
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("batch: without a pass it is strict") {
  Batches batches{0};
  auto first = batches.hold();
  auto others = batches.queue_other();
  auto second = batches.queue();
  first.result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

}  // namespace
}  // namespace custodian::tests::batch_test
