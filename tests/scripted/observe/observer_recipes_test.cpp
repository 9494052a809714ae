// An observer's events of each recipe.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/lock_sets/quorum_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/locks/with_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/observe/observed.hpp"

namespace custodian::tests::observer_recipes_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Lines = Records::Lines;

TEST_CASE("observer: readers and writers are told apart, and a downgrade acquires the read lock") {
  Observed observed;
  InterProcessReadWriteLock lock{*observed.mine, "/lock"};
  Lease writing = observed.acquire(lock.write());
  CHECK(observed.told() == Lines{"begun InterProcessReadWriteLock::write /lock",
                                 "acquired InterProcessReadWriteLock::write /lock"});
  auto reading =
      run<Lease>(observed.world, [&](auto done) { lock.read().async_acquire(writing, done); });
  REQUIRE(reading.arrived());
  CHECK(observed.told() == Lines{"begun InterProcessReadWriteLock::read /lock",
                                 "acquired InterProcessReadWriteLock::read /lock"});
  writing.release();
  CHECK(observed.told() == Lines{"released InterProcessReadWriteLock::write /lock"});
  reading.result().release();
  CHECK(observed.told() == Lines{"released InterProcessReadWriteLock::read /lock"});
}

TEST_CASE("observer: several permits are one acquire, and a lease each") {
  Observed observed;
  InterProcessSemaphore semaphore{*observed.mine, "/permits", 3};
  auto acquired =
      run<std::vector<Lease>>(observed.world, [&](auto done) { semaphore.async_acquire(2, done); });
  REQUIRE(acquired.arrived());
  CHECK(observed.told() == Lines{"begun InterProcessSemaphore /permits",
                                 "begun InterProcessSemaphore /permits",
                                 "acquired InterProcessSemaphore /permits x2"});
  acquired.result().pop_back();
  CHECK(observed.told() == Lines{"released InterProcessSemaphore /permits"});
  acquired.result().clear();
  CHECK(observed.told() == Lines{"released InterProcessSemaphore /permits"});
}

TEST_CASE("observer: a semaphore mutex is told of at its own path") {
  Observed observed;
  InterProcessSemaphoreMutex mutex{*observed.mine, "/mutex"};
  observed.acquire(mutex).release();
  CHECK(observed.told() == Lines{"begun InterProcessSemaphoreMutex /mutex",
                                 "acquired InterProcessSemaphoreMutex /mutex",
                                 "released InterProcessSemaphoreMutex /mutex"});
}

TEST_CASE("observer: any stripe is the striped mutex, and a stripe by itself is a mutex") {
  Observed observed;
  StripedMutex striped{*observed.mine, "/stock", 2};
  Lease one = observed.acquire(striped.stripe(1));
  CHECK(observed.told() ==
        Lines{"begun InterProcessMutex /stock/1", "acquired InterProcessMutex /stock/1"});
  auto any = run<StripeLease>(observed.world, [&](auto done) { striped.async_acquire_any(done); });
  REQUIRE(any.arrived());
  CHECK(any.result().index == 0);
  CHECK(observed.told() == Lines{"begun StripedMutex /stock", "acquired StripedMutex /stock"});
  any.result().lease.release();
  CHECK(observed.told() == Lines{"released StripedMutex /stock"});
}

TEST_CASE("observer: a multi lock is told of as the locks that it has, of its clients each") {
  Observed observed;
  InterProcessMutex a{*observed.mine, "/a"};
  InterProcessSemaphore b{*observed.mine, "/b", 1};
  InterProcessMutex others{*observed.other, "/others"};
  InterProcessMultiLock all{{a, {b, 1}, others}};
  auto acquired = run<LeaseGroup>(observed.world, [&](auto done) { all.async_acquire(done); });
  REQUIRE(acquired.arrived());
  CHECK(observed.told() == Lines{"begun InterProcessMutex /a", "acquired InterProcessMutex /a",
                                 "begun InterProcessSemaphore /b",
                                 "acquired InterProcessSemaphore /b"});
  acquired.result().release();
  CHECK(observed.told() ==
        Lines{"released InterProcessSemaphore /b", "released InterProcessMutex /a"});
}

TEST_CASE("observer: a quorum lock is told of as the mutex that it has in an ensemble") {
  Observed observed;
  ClientOptions elsewhere = observed.world.options("third");
  // Another name space stands for another ensemble.
  elsewhere.name_space = "third";
  observed.world.make("/third");
  auto third = observed.world.client(elsewhere);
  elsewhere.name_space = "fourth";
  observed.world.make("/fourth");
  auto fourth = observed.world.client(elsewhere);
  {
    QuorumLock quorum{{*observed.mine, *third, *fourth}, "/quorum"};
    auto majority = run<LeaseGroup>(observed.world, [&](auto done) { quorum.async_acquire(done); });
    REQUIRE(majority.arrived());
    CHECK(observed.told() ==
          Lines{"begun InterProcessMutex /quorum", "acquired InterProcessMutex /quorum"});
    majority.result().release();
    CHECK(observed.told() == Lines{"released InterProcessMutex /quorum"});
  }
  CHECK(observed.world.end(third));
  CHECK(observed.world.end(fourth));
}

TEST_CASE("observer: with_lock is the lock that it takes") {
  Observed observed;
  const auto kind = GENERATE(LockKind::mutex, LockKind::read, LockKind::write);
  const std::string recipe = kind == LockKind::mutex  ? "InterProcessMutex"
                             : kind == LockKind::read ? "InterProcessReadWriteLock::read"
                                                      : "InterProcessReadWriteLock::write";
  bool over = false;
  asio::co_spawn(
      observed.world.context,
      [](Client* client, WithLockOptions options) -> asio::awaitable<void> {
        const auto work = []() -> asio::awaitable<void> { co_return; };
        static_cast<void>(co_await co_with_lock(*client, "/lock", options, work));
      }(&*observed.mine, WithLockOptions{.kind = kind}),
      [&](std::exception_ptr failure) {
        CHECK_FALSE(failure);
        over = true;
      });
  REQUIRE(observed.world.run_until([&] { return over; }));
  CHECK(observed.told() == Lines{"begun " + recipe + " /lock", "acquired " + recipe + " /lock",
                                 "released " + recipe + " /lock"});
}

TEST_CASE("observer: a leader's election is an acquire, and its leadership a lease") {
  Observed observed;
  {
    LeaderLatch latch{*observed.mine, "/leader"};
    latch.start();
    REQUIRE(observed.world.run_until([&] { return latch.has_leadership(); }));
    CHECK(observed.told() == Lines{"begun LeaderLatch /leader", "acquired LeaderLatch /leader"});
    latch.close();
    CHECK(observed.told() == Lines{"released LeaderLatch /leader"});
  }
  LeaderSelector selector{*observed.mine, "/leader",
                          [](Lease, std::stop_token) -> asio::awaitable<void> { co_return; }};
  selector.start();
  REQUIRE(observed.world.run_until([&] { return observed.records->locks.size() == 3; }));
  CHECK(observed.told() == Lines{"begun LeaderSelector /leader", "acquired LeaderSelector /leader",
                                 "released LeaderSelector /leader"});
}

// -- Batches --------------------------------------------------------------------------------------

TEST_CASE("observer: of a batch each holder is told of, and nobody who stands in line for them") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.hand_off = HandOff::cohort(8)}};
  std::vector<Outcome<Lease>> places(3);
  for (auto& place : places) mutex.async_acquire(place.handler());
  observed.world.settle();
  FencingToken last;
  for (auto& place : places) {
    REQUIRE(place.arrived());
    CHECK(observed.told() ==
          Lines{"begun InterProcessMutex /lock", "acquired InterProcessMutex /lock"});
    CHECK(observed.records->token == place.result().token());
    CHECK(last < place.result().token());
    last = place.result().token();
    place.result().release();
    observed.world.settle();
    Lines& told = observed.records->locks;
    REQUIRE_FALSE(told.empty());
    CHECK(told.front() == "released InterProcessMutex /lock");
    told.erase(told.begin());
  }
  CHECK(observed.told().empty());
}

TEST_CASE("observer: who gives up or fails in a batch is told of") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.hand_off = HandOff::cohort(8)}};
  Lease held = observed.acquire(mutex);
  CHECK(observed.told().size() == 2);
  SECTION("late") {
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(long_enough, late.handler());
    REQUIRE(observed.world.run_until_arrived(late));
    CHECK(observed.told() == Lines{"late InterProcessMutex /lock"});
    CHECK(observed.records->waited > 0ns);
  }
  SECTION("cancelled") {
    asio::cancellation_signal signal;
    Outcome<Lease> given_up;
    mutex.async_acquire(asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
    observed.world.settle();
    signal.emit(asio::cancellation_type::total);
    REQUIRE(observed.world.run_until_arrived(given_up));
    CHECK(observed.told().front().starts_with("cancelled InterProcessMutex /lock: "));
  }
  SECTION("failed") {
    observed.world.ensemble.refuse("/lock");
    Outcome<Lease> refused;
    mutex.async_acquire(refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
    CHECK(observed.told() ==
          Lines{"failed InterProcessMutex /lock: not allowed by the node's ACL"});
    observed.world.ensemble.permit("/lock");
  }
  held.release();
  CHECK(observed.told() == Lines{"released InterProcessMutex /lock"});
}

}  // namespace
}  // namespace custodian::tests::observer_recipes_test
