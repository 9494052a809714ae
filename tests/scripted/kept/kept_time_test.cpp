// A kept lock and time: its lease, its session's beats, its age.

#include <thread>

#include "kept/kept_lock.hpp"
#include "ordering/lock_spec.hpp"
#include "scripted/held.hpp"

namespace custodian::tests::kept_time_test {

using namespace std::chrono_literals;

namespace {

/// A client with a short session, which keeps its lock.
struct Keeper : Held {
  Keeper() {
    lease.release();
    kept.emplace(*client, "/kept", LockOptions{.keep_idle_for = 1min});
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() {
    client->release_kept_locks();
    kept.reset();
    end();
  }
  Lease take() {
    auto taken = run<Lease>(world, [&](auto done) { kept->async_acquire(done); });
    REQUIRE(taken.arrived());
    REQUIRE_FALSE(taken.error());
    return std::move(taken.result());
  }
  void keep() {
    take().release();
    world.settle();
    REQUIRE(client->kept_locks() == 1);
  }

  std::optional<InterProcessMutex> kept;
};

TEST_CASE("kept: a node whose lease is near its end is not taken again", "[timed]") {
  Keeper keeper;
  Lease first = keeper.take();
  const FencingToken token = first.token();
  first.release();
  keeper.world.settle();
  REQUIRE(keeper.client->kept_locks() == 1);
  // The process stands still, and its connection with it.
  std::this_thread::sleep_for(timeout * 13 / 20);
  Lease next = keeper.take();
  CHECK(next.token().value > token.value);
  CHECK(next.remaining() > timeout / 3);
  next.release();
}

TEST_CASE("kept: a process that stood still for its session's time keeps nothing", "[timed]") {
  Keeper keeper;
  keeper.keep();
  SECTION("its session is over") { std::this_thread::sleep_for(timeout); }
  SECTION("its session is not") { std::this_thread::sleep_for(timeout * 19 / 20); }
  REQUIRE(keeper.world.run_until([&] { return keeper.client->kept_locks() == 0; }));
  CHECK(keeper.world.run_until([&] { return keeper.world.ensemble.children("/kept").empty(); }));
  Lease next = keeper.take();
  CHECK(next.token().grant == 0);
  next.release();
}

TEST_CASE("kept: a beat notifies a holder whose node an operator has deleted", "[timed]") {
  Keeper keeper;
  keeper.keep();
  Lease lease = keeper.take();
  CHECK(lease.token().grant == 1);
  keeper.world.remove(lease.node());
  CHECK(keeper.world.run_until([&] { return lease.lost().stop_requested(); }));
  CHECK(lease.loss_reason() == LossReason::node_deleted);
  lease.release();
}

TEST_CASE("kept: beats do not ask for nodes that nobody holds", "[timed]") {
  Held held;
  held.lease.release();
  // More locks than fit into one request of a beat.
  constexpr std::size_t many = 600;
  for (std::size_t i = 0; i < many; ++i) {
    InterProcessMutex mutex{*held.client, "/kept/" + std::to_string(i),
                            LockOptions{.keep_idle_for = 1min}};
    auto taken = run<Lease>(held.world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(taken.arrived());
    taken.result().release();
  }
  held.world.settle();
  REQUIRE(held.client->kept_locks() == many);
  held.world.ensemble.clear_history();
  const auto beats = [&] { return count(held.world.ensemble.history(), "multi"); };
  REQUIRE(held.world.run_until([&] { return beats() > 0; }));
  held.world.settle();
  CHECK(beats() == 1);
  CHECK(held.client->kept_locks() == many);
  held.client->release_kept_locks();
  CHECK(held.world.run_until_idle(*held.client));
  held.end();
}

TEST_CASE("kept: a node is kept for a minute, however often it is used") {
  Keeper keeper;
  keeper.keep();
  const auto& kept = keeper.kept->spec()->kept;
  const auto now = std::chrono::steady_clock::now();
  CHECK(kept->sweep(now + 59s));
  CHECK(keeper.client->kept_locks() == 1);
  SECTION("when it is idle") {
    CHECK(kept->sweep(now + 61s));
    CHECK(keeper.client->kept_locks() == 0);
  }
  SECTION("when it is held, it goes with its release") {
    Lease lease = keeper.take();
    CHECK(kept->sweep(now + 61s));
    CHECK(lease.state() == LeaseState::held);
    lease.release();
    CHECK(keeper.client->kept_locks() == 0);
  }
  // A lock that is not used for another minute is forgotten.
  CHECK_FALSE(kept->sweep(now + 3min));
}

}  // namespace
}  // namespace custodian::tests::kept_time_test
