// Who waits behind another of its client: what it learns in the end, and what it leaves behind.

#include <memory>
#include <optional>

#include "custodian/recipes/inter_process_mutex.hpp"
#include "support/catch.hpp"
#include "world.hpp"

namespace custodian::tests {
namespace {

using namespace std::chrono_literals;

TEST_CASE("local line: who is late is told who was in the way") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<AcquireResult> late;
    mutex.async_try_acquire_for(20ms, late.handler());
    REQUIRE(world.run_until_arrived(late));
    CHECK_FALSE(late.error());
    CHECK_FALSE(late.result().lease);
    REQUIRE(late.result().blocked_by);
    CHECK(late.result().blocked_by->node == first.result().node());
    first.result().release();
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: who is in time keeps nothing waiting for its deadline") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<AcquireResult> waits;
    mutex.async_try_acquire_for(1h, waits.handler());
    world.settle();
    first.result().release();
    REQUIRE(world.run_until_arrived(waits));
    CHECK(waits.result().lease);
    waits.result().lease.release();
  }
  CHECK(world.end(client));
}

TEST_CASE("local line: who waits goes with the context that would wake it") {
  std::weak_ptr<int> kept;
  {
    World world;
    auto client = world.client("mine");
    InterProcessMutex mutex{*client, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    auto owned = std::make_shared<int>();
    kept = owned;
    mutex.async_acquire([owned = std::move(owned)](error_code, const Lease&) {});
    world.settle();
    CHECK_FALSE(kept.expired());
  }
  CHECK(kept.expired());
}

}  // namespace
}  // namespace custodian::tests
