// Blocking waits whose deadline has passed before they begin: they look once.

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/mirror/node_cache.hpp"
#include "scripted/blocking_calls.hpp"
#include "support/acquired.hpp"

namespace custodian::tests::passed_deadlines_test {
namespace {

using namespace std::chrono_literals;

const Deadline passed{std::chrono::steady_clock::now() - 1h};

TEST_CASE("passed deadline: a mirror that is synced says so") {
  BlockingClient one;
  one.make("/node");
  const NodeCache mirror{one.client, "/node"};
  mirror.wait_synced();
  // The client's thread may be so quick that a call which does not wait for it gets its answer.
  for (int turn = 0; turn < 20; ++turn) CHECK(mirror.wait_synced_until(passed));
}

TEST_CASE("passed deadline: a latch that leads returns its leadership, and another one does not") {
  BlockingClient one;
  LeaderLatch latch{one.client, "/election"};
  CHECK_FALSE(acquired(latch.wait_until(passed)));
  latch.start();
  REQUIRE(acquired(latch.wait()));
  for (int turn = 0; turn < 20; ++turn) CHECK(acquired(latch.wait_until(passed)));
}

TEST_CASE("passed deadline: a barrier that is open lets the caller through") {
  BlockingClient one;
  one.client.wait_connected();
  CHECK(DistributedBarrier{one.client, "/barrier"}.wait_until(passed));
  CHECK_FALSE(CountDownLatch{one.client, "/latch", 1}.wait_until(passed));
}

}  // namespace
}  // namespace custodian::tests::passed_deadlines_test
