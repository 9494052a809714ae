// A lock that its client keeps when nobody wants it (LockOptions::keep_idle_for).

#include <boost/asio/post.hpp>
#include <thread>

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/with_lock.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests::kept_lock_test {

using namespace std::chrono_literals;
using Kinds = std::vector<std::string>;

namespace {

TEST_CASE("kept: the next acquire has the lock without a word to the servers") {
  Kept kept;
  Lease first = kept.acquire();
  const FencingToken token = first.token();
  const std::string node = first.node();
  first.release();
  CHECK(kept.mine->kept_locks() == 1);
  kept.world.ensemble.clear_history();
  for (std::int64_t grant = 1; grant < 4; ++grant) {
    Lease next = kept.acquire();
    CHECK(kept.mine->kept_locks() == 0);
    CHECK(next.state() == LeaseState::held);
    CHECK(next.node() == node);
    CHECK(next.token() == FencingToken{token.epoch, token.value, grant});
    next.release();
  }
  CHECK(kept.asked().empty());
  CHECK(kept.mine->kept_locks() == 1);
}

TEST_CASE("kept: to keep costs no request more than not to keep") {
  Kept kept;
  kept.world.ensemble.clear_history();
  Lease lease = kept.acquire();
  kept.world.settle();
  // The parent, which is missing at first, is made in between.
  const Kinds asked = kept.asked();
  CHECK(std::ranges::count(asked, "children") == 2);
  lease.release();
  kept.world.settle();
  CHECK(kept.asked() == asked);
}

TEST_CASE("kept: a lock object that is made later finds what an earlier one has left") {
  Kept kept;
  kept.keep();
  kept.mutex.reset();
  kept.mutex.emplace(*kept.mine, "/lock", kept.options);
  kept.acquire().release();
  CHECK(kept.asked().empty());
}

TEST_CASE("kept: with_lock() finds what a lock object has left") {
  Kept kept;
  kept.keep();
  // The call must not wait for the servers, which this thread runs; and there is nothing to wait
  // for.
  bool done = false;
  std::jthread{[&] {
    static_cast<void>(with_lock(*kept.mine, "/lock", {.lock = kept.options}, [&] { done = true; }));
  }}.join();
  CHECK(done);
  CHECK(kept.asked().empty());
}

TEST_CASE("kept: the standard face, a try, and a try with a limit find it") {
  Kept kept;
  kept.keep();
  bool all = true;
  std::jthread{[&] {
    kept.mutex->lock();
    all = kept.mutex->owns_lock() && kept.mutex->try_lock();
    kept.mutex->unlock();
    kept.mutex->unlock();
    all = all && static_cast<bool>(kept.mutex->acquire().token().value);
    const AcquireResult tried = kept.mutex->try_acquire();
    all = all && tried;
  }}.join();
  CHECK(all);
  const auto timed = run<AcquireResult>(
      kept.world, [&](auto done) { kept.mutex->async_try_acquire_for(1h, done); });
  CHECK(timed.result());
  timed.result().lease.release();
  CHECK(kept.asked().empty());
}

TEST_CASE("kept: who looks at the queue sees that nobody holds the lock, if it is the keeper") {
  Kept kept;
  kept.keep();
  const auto look = [&](InterProcessMutex& mutex) {
    auto seen = run<std::vector<Participant>>(
        kept.world, [&](auto done) { mutex.async_participants({}, done); });
    REQUIRE(seen.arrived());
    REQUIRE(seen.result().size() == 1);
    return seen.result().front();
  };
  CHECK(look(*kept.mutex).idle);
  CHECK(look(*kept.mutex).own);
  CHECK_FALSE(look(*kept.others_mutex).idle);
  const Lease lease = kept.acquire();
  CHECK_FALSE(look(*kept.mutex).idle);
}

TEST_CASE("kept: a blocking call on the client's own thread is refused, kept or not") {
  Kept kept;
  kept.keep();
  error_code refused;
  boost::asio::post(kept.world.context, [&] {
    try {
      kept.mutex->acquire().release();
    } catch (const Error& error) {
      refused = error.code();
    }
  });
  kept.world.settle();
  CHECK(refused == Errc::would_deadlock);
}

TEST_CASE("kept: each path has its own, and a writer's is kept as a mutex's") {
  Kept kept;
  kept.keep();
  InterProcessReadWriteLock lock{*kept.mine, "/book", kept.options};
  kept.acquire(lock.write()).release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 2);
  kept.world.ensemble.clear_history();
  kept.acquire(lock.write()).release();
  kept.acquire().release();
  CHECK(kept.asked().empty());
  // A reader finds its client's idle writer in front, which goes first.
  kept.acquire(lock.read()).release();
  CHECK(kept.asked().front() == "remove");
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.world.run_until([&] { return kept.nodes("/book") == 0; }));
}

TEST_CASE("kept: an acquire of this client that cannot use it does not wait for it") {
  Kept kept;
  kept.keep();
  Outcome<AcquireResult> tried;
  SECTION("terms of its own") {
    kept.mutex->async_try_acquire({.lease = {.hold_at_most = 1h}}, tried.handler());
  }
  SECTION("another identity") {
    LockOptions options = kept.options;
    options.identity = "another";
    InterProcessMutex another{*kept.mine, "/lock", options};
    another.async_try_acquire(tried.handler());
  }
  SECTION("a lock that is not kept") {
    InterProcessMutex another{*kept.mine, "/lock"};
    another.async_try_acquire(tried.handler());
  }
  REQUIRE(kept.world.run_until_arrived(tried));
  CHECK(tried.result());
  const Kinds asked = kept.asked();
  REQUIRE_FALSE(asked.empty());
  CHECK(asked.front() == "remove");
  tried.result().lease.release();
}

TEST_CASE("kept: what makes no sense is refused where it is asked for") {
  Kept kept;
  CHECK_THROWS_AS((InterProcessMutex{*kept.mine, "/a", {.keep_idle_for = -1ns}}), Error);
  CHECK_THROWS_AS(
      (InterProcessMutex{*kept.mine, "/a", {.lease = {.hold_at_most = 1s}, .keep_idle_for = 1s}}),
      Error);
}

}  // namespace
}  // namespace custodian::tests::kept_lock_test
