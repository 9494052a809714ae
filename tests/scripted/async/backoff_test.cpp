// Pauses of a client that closes.

#include "async/backoff.hpp"

#include <chrono>

#include "custodian/authoring/spawn.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::backoff_test {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<Result<void>> pause_once(Client client) {
  const CancellationPtr none;
  co_await recipes_detail::pause_for(client, 1h, Deadline::never(), none);
  co_return Result<void>{};
}

Outcome<> pause(const Client& client) {
  Outcome<> ended;
  spawn(client.core(), "a pause", pause_once(client.share()), ended.handler());
  return ended;
}

/// A holder keeps its client from closing.
Lease hold_lock(World& world, const Client& client) {
  InterProcessMutex mutex{client, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE_FALSE(acquired.error());
  return std::move(acquired.result());
}

TEST_CASE("pauses: a client that begins to close ends them, and makes later ones short") {
  World world;
  auto client = world.client("mine");
  Lease lease = hold_lock(world, *client);
  const auto before = pause(*client);
  world.settle();
  CHECK_FALSE(before.arrived());
  Outcome<bool> closing;
  client->async_close(Deadline{World::limit}, closing.handler());
  REQUIRE(world.run_until_arrived(before));
  // The holder keeps the client from closing, so a recipe in the background could send requests
  // without end.
  for (int i = 0; i < 3; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    REQUIRE(world.run_until_arrived(pause(*client)));
    CHECK(std::chrono::steady_clock::now() - begun >= 50ms);
  }
  CHECK_FALSE(closing.arrived());
  lease.release();
  REQUIRE(world.run_until_arrived(closing));
  CHECK(closing.result());
  CHECK(world.end(client));
}

TEST_CASE("pauses: a client that closes makes its first pause short, too") {
  World world;
  auto client = world.client("mine");
  Lease lease = hold_lock(world, *client);
  Outcome<bool> closing;
  client->async_close(Deadline{World::limit}, closing.handler());
  world.settle();
  REQUIRE(world.run_until_arrived(pause(*client)));
  CHECK_FALSE(closing.arrived());
  lease.release();
  REQUIRE(world.run_until_arrived(closing));
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::backoff_test
