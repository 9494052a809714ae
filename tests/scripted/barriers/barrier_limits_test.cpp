// The largest numbers that barriers and latches accept.

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_limits_test {
namespace {

/// Whether a recipe refuses these many for being too many, and not for their transaction's size.
template <typename Recipe>
bool refuses(const Client& client, std::int32_t many) {
  try {
    const Recipe recipe{client, "/b", many};
    return false;
  } catch (const Error& error) {
    return error.code() == Errc::invalid_argument;
  }
}

TEST_CASE("barriers: the largest number is accepted, and the next one refused") {
  World world;
  auto client = world.client("one");
  CHECK_FALSE(refuses<CountDownLatch>(*client, CountDownLatch::max()));
  CHECK(refuses<CountDownLatch>(*client, CountDownLatch::max() + 1));
  CHECK_FALSE(refuses<InterProcessBarrier>(*client, InterProcessBarrier::max()));
  CHECK(refuses<InterProcessBarrier>(*client, InterProcessBarrier::max() + 1));
  CHECK_FALSE(refuses<DistributedDoubleBarrier>(*client, DistributedDoubleBarrier::max()));
  CHECK(refuses<DistributedDoubleBarrier>(*client, DistributedDoubleBarrier::max() + 1));
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::barrier_limits_test
