// A kept lock that several callers of its client want.

#include <deque>

#include "kept/kept_lock.hpp"
#include "ordering/lock_spec.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests::kept_line_test {

using namespace std::chrono_literals;
using recipes_detail::KeptRecord;

namespace {

TEST_CASE("kept line: waiters pass a lock on that nobody else wants, and it stays then") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  std::deque<Kept::Place> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(kept.queue());
  CHECK(kept.nodes() == 1);
  first.release();
  for (auto& each : waiting) {
    REQUIRE(kept.holds(each));
    each.result().release();
  }
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.asked().empty());
}

TEST_CASE("kept line: callers that come together find out that they are alone") {
  Kept kept;
  std::deque<Kept::Place> waiting(8);
  for (auto& each : waiting) kept.mutex->async_acquire(each.handler());
  REQUIRE(kept.world.run_until_arrived(waiting.front()));
  SECTION("while one of them holds the lock") { kept.world.settle(); }
  SECTION("when the first one has returned it already") {}
  std::vector<std::int64_t> grants;
  for (auto& each : waiting) {
    REQUIRE(kept.world.run_until_arrived(each));
    REQUIRE_FALSE(each.error());
    grants.push_back(each.result().token().grant);
    each.result().release();
  }
  CHECK(grants == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.nodes() == 1);
  // The listing that has shown it is watched.
  auto others = kept.queue_other();
  CHECK(kept.holds(others));
  if (others.arrived()) others.result().release();
}

TEST_CASE("kept line: another contender comes between callers of one client in its turn") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  auto second = kept.queue();
  auto others = kept.queue_other();
  auto third = kept.queue();
  CHECK(kept.nodes() == 4);
  first.release();
  // No caller of the keeper passes by the contender that has come.
  CHECK(kept.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  REQUIRE(kept.holds(second));
  second.result().release();
  REQUIRE(kept.holds(third));
  third.result().release();
}

TEST_CASE("kept line: a cohort passes a lock on so often when another contender has come") {
  Kept kept{{.hand_off = HandOff::cohort(2), .keep_idle_for = a_minute}};
  kept.keep();
  Lease first = kept.acquire();
  std::deque<Kept::Place> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(kept.queue());
  auto others = kept.queue_other();
  first.release();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(kept.holds(waiting[static_cast<std::size_t>(i)]));
    CHECK_FALSE(others.arrived());
    waiting[static_cast<std::size_t>(i)].result().release();
  }
  REQUIRE(kept.holds(others));
  others.result().release();
  for (std::size_t i = 2; i < 4; ++i) {
    REQUIRE(kept.holds(waiting[i]));
    waiting[i].result().release();
  }
}

TEST_CASE("kept line: a released node waits for the listing that shows others, and goes") {
  Kept kept;
  auto others = kept.queue_other();
  REQUIRE(kept.holds(others));
  auto first = kept.queue();
  auto second = kept.queue();
  auto last = kept.queue_other();
  others.result().release();
  REQUIRE(kept.world.run_until_arrived(first));
  // The listing is under way.
  first.result().release();
  REQUIRE(kept.holds(second));
  second.result().release();
  REQUIRE(kept.holds(last));
  last.result().release();
}

TEST_CASE(
    "kept line: a late waiter of a client that is alone learns which contender was in the way") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  Outcome<AcquireResult> late;
  kept.mutex->async_try_acquire_for(brief_limit, late.handler());
  REQUIRE(kept.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  CHECK(late.result().reason == NotAcquired::blocked);
  REQUIRE(late.result().blocked_by);
  CHECK(late.result().blocked_by->node == first.node());
  CHECK(late.result().blocked_by->own);
  first.release();
}

TEST_CASE("kept line: a late waiter reports that it was blocked before it has read by whom") {
  Kept kept;
  Lease others = kept.acquire(*kept.others_mutex);
  // The reply about the node in front.
  kept.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("mine", Faults{{2, {.kind = FaultKind::delay}}}));
  Outcome<AcquireResult> late;
  kept.mutex->async_try_acquire_for(brief_limit, late.handler());
  REQUIRE(kept.world.run_until_arrived(late));
  CHECK(late.result().reason == NotAcquired::blocked);
  CHECK_FALSE(late.result().blocked_by);
  kept.world.ensemble.set_fault_plan(nullptr);
  kept.world.ensemble.release_replies();
  others.release();
}

TEST_CASE("kept line: waiters without a node of their own queue when the holder's node is lost") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  auto second = kept.queue();
  CHECK(kept.nodes() == 1);
  SECTION("with its session") {
    kept.world.ensemble.expire(kept.mine->session().id);
    // Although the holder has not released it.
    REQUIRE(kept.world.run_until_arrived(second));
    CHECK_FALSE(second.error());
  }
  SECTION("by an operator") {
    kept.world.remove(first.node());
    REQUIRE(kept.world.run_until([&] { return second.arrived(); }));
    CHECK_FALSE(second.error());
  }
  SECTION("it is not, but its connection is") {
    kept.world.ensemble.stop();
    kept.world.settle();
    kept.world.ensemble.start();
    REQUIRE(kept.world.run_until([&] { return kept.nodes() == 2; }));
    CHECK_FALSE(second.arrived());
    first.release();
    REQUIRE(kept.world.run_until_arrived(second));
  }
  CHECK(second.result().token().grant == 0);
  first.release();
  second.result().release();
}

TEST_CASE("kept line: who releases a lost node late ends nothing of the next one") {
  Kept kept;
  kept.keep();
  Lease lost = kept.acquire();
  kept.world.ensemble.expire(kept.mine->session().id);
  REQUIRE(kept.world.run_until([&] { return lost.state() == LeaseState::lost; }));
  Lease next = kept.acquire();
  const FencingToken token = next.token();
  kept.world.settle();
  SECTION("while that is held") {
    lost.release();
    next.release();
  }
  SECTION("while that is idle") {
    next.release();
    lost.release();
  }
  CHECK(kept.mine->kept_locks() == 1);
  kept.acquire().release();
  // It still has an end.
  const auto& lock = kept.mutex->spec()->kept;
  CHECK(lock->sweep(std::chrono::steady_clock::now() + 2 * KeptRecord::longest));
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.acquire().token().value > token.value);
}

TEST_CASE("kept line: waiters pass a lock on for a minute, even if no event reports others") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  auto second = kept.queue();
  CHECK(kept.nodes() == 1);
  const auto& lock = kept.mutex->spec()->kept;
  CHECK(lock->sweep(std::chrono::steady_clock::now() + 2 * KeptRecord::longest));
  kept.world.settle();
  CHECK(kept.nodes() == 2);
  first.release();
  REQUIRE(kept.holds(second));
  CHECK(second.result().token().grant == 0);
  second.result().release();
}

TEST_CASE("kept line: a task that waits for itself is warned, though it has no node in the queue") {
  Kept kept;
  std::vector<std::string> warnings;
  ClientOptions options = kept.world.options("waiter");
  options.session_timeout = 20s;
  options.log = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings.emplace_back(message);
  };
  auto client = kept.world.client(std::move(options));
  {
    InterProcessMutex mutex{*client, "/own", {.keep_idle_for = a_minute}};
    Lease first = kept.acquire(mutex);
    kept.world.settle();
    Outcome<Lease> second;
    mutex.async_acquire(second.handler());
    kept.world.settle();
    CHECK(kept.nodes("/own") == 1);
    const auto now = std::chrono::steady_clock::now();
    const auto& lock = mutex.spec()->kept;
    CHECK(lock->sweep(now));
    CHECK(lock->sweep(now + 1s));
    kept.world.settle();
    CHECK(warnings.empty());
    CHECK(lock->sweep(now + 21s));
    CHECK(lock->sweep(now + 22s));
    kept.world.settle();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings.front().find("waits for itself") != std::string::npos);
    first.release();
    REQUIRE(kept.world.run_until_arrived(second));
    second.result().release();
  }
  client->release_kept_locks();
  CHECK(kept.world.run_until_idle(*client));
  CHECK(kept.world.end(client));
}

TEST_CASE("kept line: an own try ends the keeping, and what was listed before is not believed") {
  Kept kept;
  SECTION("while the lock is held") {
    kept.keep();
    Lease first = kept.acquire();
    Outcome<AcquireResult> tried;
    kept.mutex->async_try_acquire(tried.handler());
    REQUIRE(kept.world.run_until_arrived(tried));
    CHECK_FALSE(tried.result());
    first.release();
  }
  SECTION("while the first listing is under way") {
    Kept::Place first;
    kept.mutex->async_acquire(first.handler());
    Outcome<AcquireResult> tried;
    kept.mutex->async_try_acquire(tried.handler());
    REQUIRE(kept.world.run_until_arrived(first));
    first.result().release();
    REQUIRE(kept.world.run_until_arrived(tried));
    if (tried.result()) tried.result().lease.release();
  }
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
}

TEST_CASE("kept line: a close of the client ends all waiters of a kept lock") {
  Kept kept;
  kept.keep();
  Lease first = kept.acquire();
  auto second = kept.queue();
  Outcome<bool> closed;
  kept.mine->async_close(1s, closed.handler());
  kept.world.settle();
  first.release();
  REQUIRE(kept.world.run_until_arrived(second));
  CHECK(second.error() == Errc::closed);
  REQUIRE(kept.world.run_until_arrived(closed));
}

}  // namespace
}  // namespace custodian::tests::kept_line_test
