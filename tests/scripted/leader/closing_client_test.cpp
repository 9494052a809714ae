// Candidates that are first used while their client is closing: the client does not end them any
// more, so they end by themselves.

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::closing_client_test {
namespace {

/// A client whose close does not end before the lease is released.
struct ClosingClient {
  ClosingClient() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE_FALSE(acquired.error());
    held = std::move(acquired.result());
  }
  void begin_close() {
    client->async_close(Deadline::never(), closed.handler());
    world.settle();
    REQUIRE_FALSE(closed.arrived());
  }
  void end_close() {
    held.release();
    REQUIRE(world.run_until_arrived(closed));
  }

  World world;
  std::unique_ptr<Client> client = world.client("mine");
  InterProcessMutex mutex{*client, "/lock"};
  Lease held;
  Outcome<bool> closed;
};

TEST_CASE("closing client: a wait for a leadership that can not come any more ends") {
  ClosingClient closing;
  const LeaderLatch latch{*closing.client, "/election"};
  closing.begin_close();
  Outcome<Lease> leadership;
  latch.async_wait(leadership.handler());
  closing.world.settle();
  REQUIRE(leadership.arrived());
  CHECK(leadership.error() == Errc::closed);
  closing.end_close();
}

TEST_CASE("closing client: a selector that can not lead any more is joined") {
  ClosingClient closing;
  const LeaderSelector selector{*closing.client, "/election", [](const Lease&, std::stop_token) {}};
  closing.begin_close();
  Outcome<> joined;
  selector.async_join(joined.handler());
  closing.world.settle();
  REQUIRE(joined.arrived());
  CHECK_FALSE(joined.error());
  closing.end_close();
}

}  // namespace
}  // namespace custodian::tests::closing_client_test
