// A context that no thread runs: a blocking call with a limit still ends, and a lock that is
// acquired after that is released.

#include <future>

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/inspect/inspect.hpp"
#include "custodian/inspect/revoke.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/locks/with_lock.hpp"
#include "custodian/mirror/node_cache.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "custodian/shared/shared_count.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace custodian::tests::unrun_context_test {
namespace {

using namespace std::chrono_literals;

/// A client whose context only the test's thread runs: no thread runs it while the test is in a
/// blocking call.
struct Unrun {
  World world;
  std::unique_ptr<Client> client = world.client([this] {
    ClientOptions options = world.options("mine");
    options.operation_timeout = 50ms;
    return options;
  }());

  /// Runs the context again, and checks that the abandoned acquire leaves no node.
  void check_that_nothing_is_left(const std::string& path) {
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return world.ensemble.children(path).empty(); }));
  }
};

TEST_CASE("unrun: an acquire with a limit ends, says why, and leaves nothing behind") {
  Unrun unrun;
  InterProcessMutex mutex{*unrun.client, "/lock"};
  const AcquireResult late = mutex.try_acquire_for(20ms);
  CHECK_FALSE(late);
  CHECK(late.reason == NotAcquired::context_not_run);
  CHECK(late.explain() == "no thread runs the client's context, or those that do are busy");
  CHECK(mutex.try_acquire().reason == NotAcquired::context_not_run);
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(20ms));
  CHECK(mutex.hold_count() == 0);
  unrun.check_that_nothing_is_left("/lock");
}

TEST_CASE("unrun: a lock that is passed on within the client ends its acquires, too") {
  Unrun unrun;
  InterProcessMutex mutex{*unrun.client, "/lock", {.hand_off = HandOff::cohort(3)}};
  CHECK(mutex.try_acquire_for(20ms).reason == NotAcquired::context_not_run);
  CHECK_FALSE(mutex.try_lock_for(20ms));
  unrun.check_that_nothing_is_left("/lock");
}

TEST_CASE("unrun: so it is with semaphores, stripes, and several locks at once") {
  Unrun unrun;
  InterProcessSemaphore semaphore{*unrun.client, "/semaphore", 3};
  CHECK(semaphore.try_acquire_for(20ms).reason == NotAcquired::context_not_run);
  CHECK(semaphore.try_acquire(2).reason == NotAcquired::context_not_run);
  CHECK_FALSE(semaphore.counting().try_acquire_for(20ms));
  InterProcessSemaphoreMutex mutex{*unrun.client, "/semaphore-mutex"};
  CHECK(mutex.try_acquire().reason == NotAcquired::context_not_run);
  CHECK_FALSE(mutex.try_lock_for(20ms));
  CHECK_FALSE(mutex.owns_lock());
  StripedMutex stripes{*unrun.client, "/stripes", 2};
  CHECK(stripes.try_acquire_any().reason == NotAcquired::context_not_run);
  CHECK(stripes.try_acquire_any_for(20ms).reason == NotAcquired::context_not_run);
  InterProcessMultiLock all{{mutex, AnyLock{semaphore, 2}}};
  const GroupAcquireResult none = all.try_acquire_for(20ms);
  CHECK(none.reason == NotAcquired::context_not_run);
  CHECK(none.path == "/semaphore-mutex");
  CHECK_FALSE(all.try_lock());
  for (const auto* path : {"/semaphore/locks", "/semaphore/leases", "/semaphore-mutex/locks",
                           "/semaphore-mutex/leases", "/stripes/0", "/stripes/1"}) {
    unrun.check_that_nothing_is_left(path);
  }
}

TEST_CASE("unrun: a function under a lock is busy, for nobody can tell who is in") {
  Unrun unrun;
  const auto call = with_lock(*unrun.client, "/lock", {.wait = 20ms, .when_busy = Otherwise::skip},
                              [] { FAIL("it ran"); });
  CHECK_FALSE(call);
  CHECK(call.reason == NotAcquired::context_not_run);
  unrun.check_that_nothing_is_left("/lock");
}

TEST_CASE("unrun: operations end at their deadlines; of a write nobody knows the outcome") {
  Unrun unrun;
  Client& client = *unrun.client;
  CHECK(error_of([&] { client.get("/a", {20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { client.exists("/a"); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { client.children("/a", {20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { client.wait_connected({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { client.create("/a", "", {.deadline = 20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  CHECK(error_of([&] { client.remove("/b", {.deadline = 20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  CHECK(unrun.world.run_until_idle(client));
}

TEST_CASE("unrun: recipes that are no locks end at their deadlines, too") {
  Unrun unrun;
  const Client& client = *unrun.client;
  SharedCount count{client, "/count", 1};
  CHECK(error_of([&] { return count.load({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return count.store(2, {20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  Versioned<std::int32_t> expected;
  CHECK(error_of([&] { return count.compare_exchange(expected, 2, {20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  LeaderLatch latch{client, "/latch"};
  latch.start();
  const Lease none = latch.wait_for(20ms);
  CHECK_FALSE(none);
  CHECK(error_of([&] { return latch.leader({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return latch.participants({20ms}); }) == Errc::deadline_exceeded);
  LeaderObserver observer{client, "/latch"};
  CHECK(error_of([&] { return observer.leader({20ms}); }) == Errc::deadline_exceeded);
  InterProcessMutex mutex{client, "/lock"};
  CHECK(error_of([&] { return mutex.queue_length({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return mutex.participants({20ms}); }) == Errc::deadline_exceeded);
  InterProcessSemaphore semaphore{client, "/semaphore", 2};
  CHECK(error_of([&] { return semaphore.participants({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return semaphore.queue_length({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return inspect(client, "/lock", {.operation = {20ms}}); }) ==
        Errc::deadline_exceeded);
  CHECK(error_of([&] { return revoke(client, "/lock/a-lock-0000000000", {20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  DistributedBarrier barrier{client, "/barrier"};
  CHECK_FALSE(barrier.wait_for(20ms));
  CHECK_FALSE(barrier.wait_for(0s));
  CHECK(error_of([&] { return barrier.is_set({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return barrier.set({20ms}); }) == Errc::deadline_exceeded_outcome_unknown);
  CHECK(error_of([&] { return barrier.remove({20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  CountDownLatch parts{client, "/parts", 2};
  CHECK_FALSE(parts.wait_for(20ms));
  CHECK_FALSE(parts.wait_for(0s));
  CHECK(error_of([&] { return parts.try_wait({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return parts.count({20ms}); }) == Errc::deadline_exceeded);
  CHECK(error_of([&] { return parts.count_down(1, {20ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  CHECK(error_of([&] { return parts.remove({20ms}); }) == Errc::deadline_exceeded_outcome_unknown);
  latch.close();
  CHECK(unrun.world.run_until_idle(*unrun.client));
}

TEST_CASE("unrun: a call without a limit waits until somebody runs the context") {
  Unrun unrun;
  InterProcessMutex mutex{*unrun.client, "/lock"};
  auto waiting = std::async(std::launch::async, [&] { return mutex.acquire(); });
  CHECK(waiting.wait_for(200ms) == std::future_status::timeout);
  CHECK(unrun.world.run_until([&] { return waiting.wait_for(0ms) == std::future_status::ready; }));
  waiting.get().release();
  unrun.check_that_nothing_is_left("/lock");
}

TEST_CASE("unrun: a wait for a mirror ends at its deadline") {
  Unrun unrun;
  {
    NodeCache mirror{*unrun.client, "/node"};
    CHECK_FALSE(mirror.wait_synced_for(20ms));
    CHECK(mirror.state() == MirrorState::loading);
  }
  CHECK(unrun.world.run_until_idle(*unrun.client));
}

}  // namespace
}  // namespace custodian::tests::unrun_context_test
