// Permits at the end of the sequence numbers, and those of blocking calls.

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/blocking_calls.hpp"

namespace custodian::tests::permit_ends_test {
namespace {

using namespace std::chrono_literals;

struct Permits {
  Outcome<std::vector<Lease>> acquire() {
    return run<std::vector<Lease>>(world, [&](auto done) { semaphore->async_acquire(1, done); });
  }
  void end() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/permits/locks").empty());
    semaphore.reset();
    CHECK(world.end(client));
  }
  World world;
  std::unique_ptr<Client> client = world.client("mine");
  std::optional<InterProcessSemaphore> semaphore{std::in_place, *client, "/permits", 2};
};

TEST_CASE("permit ends: a lease whose number is the last one is no permit") {
  Permits permits;
  {
    auto first = permits.acquire();
    REQUIRE(first.arrived());
    REQUIRE_FALSE(first.error());
    permits.world.ensemble.set_next_sequence("/permits/leases", 2147483647);
    const auto last = permits.acquire();
    REQUIRE(last.arrived());
    CHECK(last.error() == Errc::sequence_exhausted);
    first.result().clear();
  }
  permits.end();
  CHECK(permits.world.ensemble.children("/permits/leases").empty());
}

TEST_CASE("permit ends: a blocking call acquires what is not kept yet") {
  BlockingClient one;
  InterProcessSemaphoreMutex mutex{one.client, "/permit", {.keep_idle_for = 1min}};
  Lease lease = mutex.acquire();
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  CHECK(until([&] { return one.client.kept_locks() == 1; }));
}

TEST_CASE("permit ends: a mutex is owned while its client is suspended") {
  BlockingClient one;
  InterProcessSemaphoreMutex mutex{one.client, "/permit"};
  mutex.lock();
  one.ensemble.stop();
  REQUIRE(until([&] { return !is_connected(one.client.connection_state()); }));
  CHECK(mutex.owns_lock());
  one.ensemble.start();
  mutex.unlock();
}

}  // namespace
}  // namespace custodian::tests::permit_ends_test
