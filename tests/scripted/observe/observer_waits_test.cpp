// An observer's events of waits at barriers, latches and conditions, and of updates.

#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_value.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/atomics/atomic_play.hpp"
#include "scripted/observe/observed.hpp"

namespace custodian::tests::observer_waits_test {
namespace {

using namespace std::chrono_literals;
using Lines = Records::Lines;

Lines told(Observed& observed) {
  observed.world.settle();
  return std::exchange(observed.records->waits, {});
}

TEST_CASE("observer: a wait at a barrier is told when it has passed, is late, or is cancelled") {
  Observed observed;
  DistributedBarrier barrier{*observed.mine, "/barrier"};
  observed.world.make("/barrier");
  const auto late =
      run<bool>(observed.world, [&](auto done) { barrier.async_wait_for(brief_limit, done); });
  CHECK_FALSE(late.result());
  CHECK(told(observed) == Lines{"late DistributedBarrier /barrier"});
  CHECK(observed.records->waited >= brief_limit);
  Outcome<> waiting;
  barrier.async_wait(waiting.handler());
  observed.world.settle();
  CHECK(told(observed).empty());
  observed.world.remove("/barrier");
  REQUIRE(observed.world.run_until_arrived(waiting));
  CHECK(told(observed) == Lines{"passed DistributedBarrier /barrier"});
  observed.world.make("/barrier");
  Outcome<> cut_short;
  barrier.async_wait(cut_short.handler());
  observed.world.settle();
  observed.close();
  REQUIRE(observed.world.run_until_arrived(cut_short));
  CHECK(told(observed) ==
        Lines{"cancelled DistributedBarrier /barrier: " + cut_short.error().message()});
}

TEST_CASE("observer: what a wait may not look at is a failure") {
  Observed observed;
  DistributedBarrier barrier{*observed.mine, "/barrier"};
  observed.world.make("/barrier");
  observed.world.ensemble.refuse("/barrier");
  const auto failed = run<>(observed.world, [&](auto done) { barrier.async_wait(done); });
  CHECK(told(observed) == Lines{"failed DistributedBarrier /barrier: " + failed.error().message()});
}

TEST_CASE("observer: waits at a latch, in a party, and for a phase are told") {
  Observed observed;
  CountDownLatch latch{*observed.mine, "/latch", 1};
  static_cast<void>(run<>(observed.world, [&](auto done) { latch.async_arrive_and_wait(done); }));
  static_cast<void>(run<>(observed.world, [&](auto done) { latch.async_wait(done); }));
  CHECK(told(observed) == Lines{"passed CountDownLatch /latch", "passed CountDownLatch /latch"});
  {
    DistributedDoubleBarrier party{*observed.mine, "/party", 1};
    static_cast<void>(run<bool>(observed.world, [&](auto done) { party.async_enter(done); }));
    static_cast<void>(run<bool>(observed.world, [&](auto done) { party.async_leave(done); }));
  }
  CHECK(told(observed) == Lines{"passed DistributedDoubleBarrier::enter /party",
                                "passed DistributedDoubleBarrier::leave /party"});
  InterProcessBarrier phases{*observed.mine, "/phases", 2};
  static_cast<void>(run<bool>(
      observed.world, [&](auto done) { phases.async_arrive_and_wait_for(brief_limit, done); }));
  CHECK(told(observed) == Lines{"late InterProcessBarrier /phases"});
}

TEST_CASE("observer: a wait at a condition is told by why it has ended") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  InterProcessCondition condition{mutex, "/changed"};
  const auto wait = [&](Deadline until) {
    Outcome<Woken> woken;
    condition.async_wait_until(observed.acquire(mutex), until, woken.handler());
    return woken;
  };
  auto late = wait(Deadline{brief_limit});
  REQUIRE(observed.world.run_until_arrived(late));
  CHECK(late.result().status == ConditionStatus::timeout);
  late.result().lease.release();
  CHECK(told(observed) == Lines{"late InterProcessCondition /changed"});
  auto woken = wait(Deadline::never());
  REQUIRE(observed.world.run_until(
      [&] { return observed.world.ensemble.children("/changed").size() == 1; }));
  Lease lease = observed.acquire(mutex);
  static_cast<void>(run<std::size_t>(
      observed.world, [&](auto done) { condition.async_signal(lease, {}, std::move(done)); }));
  lease.release();
  REQUIRE(observed.world.run_until_arrived(woken));
  woken.result().lease.release();
  CHECK(told(observed) == Lines{"passed InterProcessCondition /changed"});
}

TEST_CASE("observer: a call of a rate limiter that is declined is late") {
  Observed observed;
  RateLimiter limiter{
      *observed.mine, "/rate", {.permits_per_second = 0.001, .burst = 0s, .chunk = 0s}};
  static_cast<void>(run<>(observed.world, [&](auto done) { limiter.async_acquire(done); }));
  static_cast<void>(run<bool>(observed.world, [&](auto done) { limiter.async_try_acquire(done); }));
  CHECK(told(observed) == Lines{"passed RateLimiter /rate", "late RateLimiter /rate"});
}

TEST_CASE("observer: an update is told with its tries, and whether it has written") {
  Observed observed;
  DistributedAtomicLong number{*observed.mine, "/number"};
  const auto add = [&] {
    return run<Updated<std::int64_t>>(observed.world,
                                      [&](auto done) { number.async_fetch_add(1, done); });
  };
  CHECK_FALSE(add().error());
  CHECK(told(observed) == Lines{"written DistributedAtomicLong /number x1"});
  // Another client is quicker than the first write.
  const auto plan = std::make_shared<FaultsAt>("mine");
  bool is_first = true;
  plan->submitted = [&](std::size_t) {
    if (observed.world.ensemble.history().back().kind != "set") return;
    if (!std::exchange(is_first, false)) return;
    observed.world.ensemble.operate(request::Set{"/number", bytes_of_long(40)});
  };
  observed.world.ensemble.set_fault_plan(plan);
  CHECK(add().result().after.value == 41);
  observed.world.ensemble.set_fault_plan(nullptr);
  CHECK(told(observed) == Lines{"written DistributedAtomicLong /number x2"});
  static_cast<void>(run<Updated<std::int64_t>>(
      observed.world, [&](auto done) { number.async_fetch_max(0, done); }));
  const Lines unchanged = told(observed);
  REQUIRE(unchanged.size() == 1);
  CHECK(unchanged.front().starts_with("unchanged DistributedAtomicLong /number"));
  observed.world.ensemble.operate(request::Set{"/number", "three"});
  const auto failed = add();
  CHECK(told(observed) ==
        Lines{"failed DistributedAtomicLong /number: " + failed.error().message()});
}

TEST_CASE("observer: updates of all kinds of values are told, and a store that settles is one") {
  Observed observed;
  const UpdateOptions settles{.settle = Settle::exactly_once};
  {
    DistributedAtomicInteger integer{*observed.mine, "/integer", settles};
    static_cast<void>(
        run<>(observed.world, [&](auto done) { integer.async_store(7, std::move(done)); }));
    DistributedAtomicValue value{*observed.mine, "/value"};
    static_cast<void>(run<Updated<std::string>>(
        observed.world, [&](auto done) { value.async_exchange("new", std::move(done)); }));
  }
  CHECK(told(observed) == Lines{"written DistributedAtomicInteger /integer x1",
                                "written DistributedAtomicValue /value x1"});
}

}  // namespace
}  // namespace custodian::tests::observer_waits_test
