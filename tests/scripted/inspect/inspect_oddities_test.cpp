// inspect() at a semaphore some of whose parts are missing, or have foreign children.

#include <algorithm>

#include "custodian/inspect/inspect.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::inspect_oddities_test {
namespace {

Inspection look(World& world, const Client& client) {
  const auto outcome = run<Inspection>(world, [&](auto done) {
    async_inspect(client, "/semaphore", InspectOptions{}, std::move(done));
  });
  REQUIRE(outcome.arrived());
  REQUIRE_FALSE(outcome.error());
  return outcome.result();
}

TEST_CASE("inspect: a semaphore that has permits alone is one") {
  World world;
  auto client = world.client("looking");
  world.make("/semaphore");
  world.make("/semaphore/leases");
  world.make("/semaphore/leases/lease-0000000000", "one");
  const Inspection seen = look(world, *client);
  REQUIRE(seen.contenders.size() == 1);
  CHECK(seen.contenders.front().claim == Claim::permit);
  CHECK(seen.foreign.empty());
  CHECK(world.end(client));
}

TEST_CASE("inspect: what is foreign in a semaphore's parts is named with its path") {
  World world;
  auto client = world.client("looking");
  world.make("/semaphore");
  world.make("/semaphore/leases");
  world.make("/semaphore/leases/a");
  world.make("/semaphore/locks");
  world.make("/semaphore/locks/b");
  CHECK(look(world, *client).foreign ==
        std::vector<std::string>{"/semaphore/leases/a", "/semaphore/locks/b"});
  CHECK(world.end(client));
}

TEST_CASE("inspect: the blocking form refuses a wrong path, too") {
  World world;
  auto client = world.client("looking");
  try {
    static_cast<void>(inspect(*client, "semaphore"));
    FAIL("the path is accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::inspect_oddities_test
