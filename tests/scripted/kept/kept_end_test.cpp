// The events that end the keeping of a lock (LockOptions::keep_idle_for).

#include <atomic>
#include <thread>

#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/with_lock.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests::kept_end_test {

using namespace std::chrono_literals;
using Kinds = std::vector<std::string>;

namespace {

TEST_CASE("kept: another contender has the lock as soon as it asks") {
  Kept kept;
  kept.keep();
  auto others = kept.queue_other();
  CHECK(kept.holds(others));
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.asked() == Kinds{"remove"});
  others.result().release();
}

TEST_CASE("kept: what another contender waits for is not kept") {
  Kept kept;
  SECTION("at first") {
    Lease lease = kept.acquire();
    auto others = kept.queue_other();
    lease.release();
    CHECK(kept.holds(others));
    others.result().release();
  }
  SECTION("when it was taken again") {
    kept.keep();
    Lease lease = kept.acquire();
    auto others = kept.queue_other();
    CHECK_FALSE(kept.holds(others));
    lease.release();
    CHECK(kept.holds(others));
    others.result().release();
  }
}

TEST_CASE("kept: after another contender, the lock is kept again") {
  Kept kept;
  kept.keep();
  kept.acquire().release();
  auto others = kept.queue_other();
  REQUIRE(kept.holds(others));
  others.result().release();
  kept.world.settle();
  kept.acquire().release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
}

TEST_CASE("kept: where others come again and again, the lock is not kept for a while") {
  Kept kept;
  int rounds_kept = 0;
  for (int i = 0; i < 20; ++i) {
    kept.acquire().release();
    kept.world.settle();
    rounds_kept += static_cast<int>(kept.mine->kept_locks());
    auto others = kept.queue_other();
    REQUIRE(kept.holds(others));
    others.result().release();
    kept.world.settle();
  }
  CHECK(rounds_kept == 4);  // before rows of 1, 3, 7 and 15 that are not kept
}

TEST_CASE("kept: what is not used for so long is given back") {
  Kept kept{{.keep_idle_for = 60ms}};
  kept.keep();
  for (int i = 0; i < 6; ++i) {
    kept.pass(20ms);
    kept.acquire().release();
  }
  CHECK(kept.asked().empty());
  CHECK(kept.world.run_until([&] { return kept.mine->kept_locks() == 0; }));
  CHECK(kept.world.run_until([&] { return kept.nodes() == 0; }));
}

TEST_CASE("kept: the time without use counts from the release") {
  Kept kept{{.keep_idle_for = 200ms}};
  Lease lease = kept.acquire();
  kept.pass(250ms);
  lease.release();
  kept.pass(100ms);
  CHECK(kept.mine->kept_locks() == 1);
}

TEST_CASE("kept: each lock is given back in its own time") {
  Kept kept{{.keep_idle_for = 1h}};
  kept.keep();
  InterProcessMutex brief{*kept.mine, "/brief", {.keep_idle_for = 20ms}};
  kept.acquire(brief).release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 2);
  const Deadline soon{2s};
  CHECK(kept.world.run_until([&] { return kept.mine->kept_locks() == 1 || soon.passed(); }));
  CHECK_FALSE(soon.passed());
  CHECK(kept.nodes() == 1);
}

TEST_CASE("kept: with_lock() for a maximum time shares no node") {
  Kept kept;
  kept.keep();
  LockOptions options = kept.options;
  SECTION("of a client that keeps it") {}
  SECTION("of a cohort") { options = {.hand_off = HandOff::cohort(8)}; }
  std::atomic<bool> done = false;
  std::jthread running{[&] {
    static_cast<void>(with_lock(*kept.mine, "/lock", {.hold_at_most = 1h, .lock = options},
                                [&] { done = true; }));
  }};
  CHECK(kept.world.run_until([&] { return done && kept.nodes() == 0; }));
  CHECK(kept.mine->kept_locks() == 0);
}

TEST_CASE("kept: of too many, the one that was not used for the longest time is given back") {
  Kept kept{{.keep_idle_for = a_minute}, 2};
  InterProcessMutex second{*kept.mine, "/second", kept.options};
  InterProcessMutex third{*kept.mine, "/third", kept.options};
  kept.acquire().release();
  kept.acquire(second).release();
  kept.acquire().release();  // used again
  kept.acquire(third).release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 2);
  CHECK(kept.nodes() == 1);
  CHECK(kept.nodes("/second") == 0);
  CHECK(kept.nodes("/third") == 1);
}

TEST_CASE("kept: a client may keep none") {
  Kept kept{{.keep_idle_for = a_minute}, 0};
  kept.acquire().release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.nodes() == 0);
}

TEST_CASE("kept: all are given back on demand, and what is held stays held") {
  Kept kept;
  InterProcessMutex second{*kept.mine, "/second", kept.options};
  Lease held = kept.acquire(second);
  kept.keep();
  kept.mine->release_kept_locks();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.nodes() == 0);
  CHECK(held.state() == LeaseState::held);
  held.release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
}

TEST_CASE("kept: what an operator deletes is not taken again") {
  Kept kept;
  kept.keep();
  kept.world.remove("/lock/" + kept.world.ensemble.children("/lock").front());
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
  Lease lease = kept.acquire();
  CHECK(lease.token().grant == 0);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
}

TEST_CASE("kept: nothing of a connection that is gone is taken again") {
  Kept kept;
  Lease held = kept.acquire();
  const FencingToken token = held.token();
  SECTION("when it was idle") { held.release(); }
  SECTION("when it was held") {}
  kept.world.settle();
  kept.world.ensemble.stop();
  REQUIRE(kept.world.run_until(
      [&] { return kept.mine->connection_state() == ConnectionState::suspended; }));
  CHECK(kept.mine->kept_locks() == 0);
  kept.world.ensemble.start();
  REQUIRE(kept.world.run_until(
      [&] { return kept.mine->connection_state() == ConnectionState::reconnected; }));
  held.release();
  Lease next = kept.acquire();
  CHECK(next.token().value > token.value);
  CHECK(kept.nodes() == 1);
  next.release();
  // From the next grant on it is kept as before.
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
}

TEST_CASE("kept: nothing is kept of a session that is over") {
  Kept kept;
  kept.keep();
  kept.world.ensemble.expire(kept.mine->session().id);
  REQUIRE(kept.world.run_until([&] { return kept.mine->kept_locks() == 0; }));
  Lease next = kept.acquire();
  CHECK(next.token().grant == 0);
  next.release();
}

TEST_CASE("kept: a lease on a kept node is lost like any other") {
  Kept kept;
  kept.keep();
  Lease lease = kept.acquire();
  CHECK(lease.token().grant == 1);
  kept.world.ensemble.expire(kept.mine->session().id);
  CHECK(kept.world.run_until([&] { return lease.lost().stop_requested(); }));
  lease.release();
  CHECK(kept.acquire().token().grant == 0);
}

TEST_CASE("kept: a holder that is asked to release gives the lock back") {
  Kept kept;
  kept.keep();
  Lease lease = kept.acquire();
  bool asked = false;
  const Subscription listening = lease.make_revocable([&] { asked = true; });
  kept.world.settle();
  const auto asks =
      run<bool>(kept.world, [&](auto done) { async_revoke(*kept.other, lease.node(), done); });
  CHECK(asks.result());
  REQUIRE(kept.world.run_until([&] { return asked; }));
  lease.release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
}

TEST_CASE("cohort: a waiter behind a lost node does not wait for its holder") {
  Kept kept{{.hand_off = HandOff::cohort(8)}};
  Lease lost = kept.acquire();
  auto waiter = kept.queue();
  REQUIRE_FALSE(kept.holds(waiter));
  kept.world.ensemble.expire(kept.mine->session().id);
  REQUIRE(kept.world.run_until([&] { return lost.state() == LeaseState::lost; }));
  REQUIRE(kept.world.run_until_arrived(waiter));
  CHECK(kept.holds(waiter));
  lost.release();
  waiter.result().release();
}

TEST_CASE("kept: a client that closes waits for no lock that nobody holds") {
  Kept kept;
  kept.keep();
  Lease held;
  SECTION("nothing is held") {}
  SECTION("a kept lock is held, and not kept again") { held = kept.acquire(); }
  Outcome<bool> closed;
  kept.mine->async_close(World::limit, closed.handler());
  kept.world.settle();
  held.release();
  REQUIRE(kept.world.run_until_arrived(closed));
  CHECK(closed.result());
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.world.run_until([&] { return kept.nodes() == 0; }));
  auto late = kept.queue();
  REQUIRE(kept.world.run_until_arrived(late));
  CHECK(late.error() == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::kept_end_test
