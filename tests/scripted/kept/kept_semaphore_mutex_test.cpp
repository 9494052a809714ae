// A semaphore mutex that its client keeps when nobody wants it (LockOptions::keep_idle_for).

#include <boost/asio/post.hpp>
#include <deque>
#include <thread>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests::kept_semaphore_mutex_test {

using Kinds = std::vector<std::string>;

namespace {

constexpr auto permits = "/permit/leases";
constexpr auto turnstile = "/permit/locks";

/// A client that keeps a semaphore mutex, and another one that does not.
struct KeptPermit : Kept {
  KeptPermit() {
    permit.emplace(*mine, "/permit", options);
    others_permit.emplace(*other, "/permit");
  }
  void keep() {
    acquire(*permit).release();
    world.settle();
    REQUIRE(mine->kept_locks() == 1);
    world.ensemble.clear_history();
  }
  ~KeptPermit() {
    mine->release_kept_locks();
    CHECK(world.run_until([&] { return nodes(permits) == 0 && nodes(turnstile) == 0; }));
  }
  KeptPermit(const KeptPermit&) = delete;
  KeptPermit& operator=(const KeptPermit&) = delete;

  std::optional<InterProcessSemaphoreMutex> permit;
  std::optional<InterProcessSemaphoreMutex> others_permit;
};

TEST_CASE("kept semaphore mutex: the next acquire has it without a word to the servers") {
  KeptPermit kept;
  Lease first = kept.acquire(*kept.permit);
  const FencingToken token = first.token();
  first.release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.nodes(turnstile) == 0);
  kept.world.ensemble.clear_history();
  // A lock object that is made later finds what an earlier one has left.
  kept.permit.emplace(*kept.mine, "/permit", kept.options);
  for (std::int64_t grant = 1; grant < 4; ++grant) {
    Lease next = kept.acquire(*kept.permit);
    CHECK(next.token() == FencingToken{token.epoch, token.value, grant});
    next.release();
  }
  CHECK(kept.asked().empty());
}

TEST_CASE("kept semaphore mutex: to keep costs no request more than not to keep") {
  KeptPermit kept;
  const auto asked_by = [&](InterProcessSemaphoreMutex& mutex) {
    kept.world.ensemble.clear_history();
    Lease lease = kept.acquire(mutex);
    kept.world.settle();
    Kinds asked = kept.asked();
    lease.release();
    kept.mine->release_kept_locks();
    CHECK(kept.world.run_until([&] { return kept.nodes(permits) == 0; }));
    return asked;
  };
  InterProcessSemaphoreMutex not_kept{*kept.mine, "/permit"};
  static_cast<void>(asked_by(not_kept));  // makes the parents
  const Kinds without = asked_by(not_kept);
  CHECK(asked_by(*kept.permit) == without);
}

/// The most watches that the servers had at once.
struct WatchCount final : testing::FaultPlan {
  explicit WatchCount(testing::FakeEnsemble& servers) : ensemble{servers} {}
  void before_reply(const testing::Submission& /*request*/, const Reply& /*reply*/) override {
    most = std::max(most, ensemble.watches());
  }
  testing::FakeEnsemble& ensemble;
  std::size_t most = 0;
};

TEST_CASE("kept semaphore mutex: who keeps it watches the permits, and not the turnstile") {
  KeptPermit kept;
  const auto count = std::make_shared<WatchCount>(kept.world.ensemble);
  kept.world.ensemble.set_fault_plan(count);
  Lease lease = kept.acquire(*kept.permit);
  CHECK(count->most == 1);
  lease.release();
  kept.world.settle();
  kept.world.ensemble.set_fault_plan(nullptr);
}

TEST_CASE("kept semaphore mutex: every face finds it") {
  KeptPermit kept;
  kept.keep();
  bool all = true;
  std::jthread{[&] {
    kept.permit->lock();
    all = kept.permit->owns_lock();
    kept.permit->unlock();
    all = all && kept.permit->try_lock();
    kept.permit->unlock();
    const AcquireResult tried = kept.permit->try_acquire();
    all = all && tried;
  }}.join();
  CHECK(all);
  CHECK(kept.asked().empty());
}

TEST_CASE("kept semaphore mutex: a blocking call on the client's own thread is refused") {
  KeptPermit kept;
  kept.keep();
  error_code refused;
  std::string path;
  boost::asio::post(kept.world.context, [&] {
    try {
      kept.permit->acquire().release();
    } catch (const Error& error) {
      refused = error.code();
      path = error.path();
    }
  });
  kept.world.settle();
  CHECK(refused == Errc::would_deadlock);
  CHECK(path == "/permit");
}

TEST_CASE("kept semaphore mutex: another contender has it as soon as it asks") {
  KeptPermit kept;
  kept.keep();
  SECTION("when it was kept by the first listing") {}
  SECTION("when the client's own waiters had nodes at first") {
    kept.mine->release_kept_locks();
    std::deque<Kept::Place> waiting(3);
    for (auto& each : waiting) kept.permit->async_acquire(each.handler());
    for (auto& each : waiting) {
      REQUIRE(kept.world.run_until_arrived(each));
      kept.world.settle();
      each.result().release();
    }
    kept.world.settle();
    REQUIRE(kept.mine->kept_locks() == 1);
  }
  auto others = kept.queue(*kept.others_permit);
  CHECK(kept.holds(others));
  CHECK(kept.mine->kept_locks() == 0);
  if (others.arrived()) others.result().release();
}

TEST_CASE("kept semaphore mutex: what another contender waits for is not kept") {
  KeptPermit kept;
  kept.keep();
  Lease lease = kept.acquire(*kept.permit);
  auto others = kept.queue(*kept.others_permit);
  auto second = kept.queue(*kept.permit);
  CHECK_FALSE(others.arrived());
  lease.release();
  REQUIRE(kept.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  REQUIRE(kept.holds(second));
  second.result().release();
}

TEST_CASE("kept semaphore mutex: it is not kept if another contender has a permit behind it") {
  KeptPermit kept;
  kept.keep();
  kept.mine->release_kept_locks();
  REQUIRE(kept.world.run_until([&] { return kept.nodes(permits) == 0; }));
  // A contender whose create was applied late is there when the permits are listed.
  const std::string others = std::string{permits} + "/_c_other-lease-0000000099";
  const auto plan = std::make_shared<FaultsAt>("mine");
  plan->submitted = [&](std::size_t) {
    if (kept.nodes(permits) == 1) kept.world.make(others);
  };
  kept.world.ensemble.set_fault_plan(plan);
  kept.acquire(*kept.permit).release();
  kept.world.ensemble.set_fault_plan(nullptr);
  kept.world.settle();
  REQUIRE(kept.world.ensemble.exists(others));
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.nodes(permits) == 1);
  kept.world.remove(others);
}

TEST_CASE("kept semaphore mutex: waiters pass it on, and callers that come together find out") {
  KeptPermit kept;
  std::deque<Kept::Place> waiting(8);
  for (auto& each : waiting) kept.permit->async_acquire(each.handler());
  std::vector<std::int64_t> grants;
  for (auto& each : waiting) {
    REQUIRE(kept.world.run_until_arrived(each));
    REQUIRE_FALSE(each.error());
    kept.world.settle();
    grants.push_back(each.result().token().grant);
    each.result().release();
  }
  CHECK(grants == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.nodes(permits) == 1);
}

TEST_CASE("kept semaphore mutex: a late waiter learns which contender was in the way") {
  KeptPermit kept;
  kept.keep();
  Lease first = kept.acquire(*kept.permit);
  Outcome<AcquireResult> late;
  kept.permit->async_try_acquire_for(brief_limit, late.handler());
  REQUIRE(kept.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK(late.result().reason == NotAcquired::blocked);
  REQUIRE(late.result().blocked_by);
  CHECK(late.result().blocked_by->node == first.node());
  CHECK(late.result().blocked_by->own);
  first.release();
}

TEST_CASE("kept semaphore mutex: terms of its own cannot use it, and do not wait for it") {
  KeptPermit kept;
  kept.keep();
  const auto tried = run<AcquireResult>(kept.world, [&](auto done) {
    kept.permit->async_try_acquire({.lease = {.hold_at_most = std::chrono::hours{1}}}, done);
  });
  CHECK(tried.result());
  CHECK(kept.asked().front() == "remove");
  tried.result().lease.release();
}

TEST_CASE("kept semaphore mutex: a semaphore at the same path does not wait for it") {
  KeptPermit kept;
  kept.keep();
  InterProcessSemaphore semaphore{*kept.mine, "/permit", 1, kept.options};
  const auto tried =
      run<PermitsResult>(kept.world, [&](auto done) { semaphore.async_try_acquire(1, {}, done); });
  CHECK(tried.result());
  CHECK(kept.asked().front() == "remove");
  tried.result().permits.clear();
  kept.world.settle();
  // Its own permits are not kept.
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.nodes(permits) == 0);
}

}  // namespace
}  // namespace custodian::tests::kept_semaphore_mutex_test
