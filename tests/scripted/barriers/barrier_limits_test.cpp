// The largest numbers that barriers and latches accept.

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_limits_test {
namespace {

/// The error of a recipe that refuses this number; empty if the recipe accepts it.
template <typename Recipe>
std::string objection_to(const Client& client, std::int32_t many) {
  try {
    const Recipe recipe{client, "/b", many};
    return {};
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return error.what();
  }
}

template <typename Recipe>
void check_largest(const Client& client) {
  const std::string largest = std::to_string(Recipe::max());
  CHECK(objection_to<Recipe>(client, Recipe::max()).empty());
  // The number is refused for itself, and not for its transaction's size.
  CHECK(objection_to<Recipe>(client, Recipe::max() + 1).find("to " + largest) != std::string::npos);
}

TEST_CASE("barriers: the largest number is accepted, and the next one refused") {
  World world;
  auto client = world.client("one");
  check_largest<CountDownLatch>(*client);
  check_largest<InterProcessBarrier>(*client);
  check_largest<DistributedDoubleBarrier>(*client);
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::barrier_limits_test
