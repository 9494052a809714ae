// A lease that ends at every turn of the executor within an operation on it.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <optional>

#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::early_release_test {
namespace {

namespace asio = boost::asio;
using testing::FaultKind;

struct Holding {
  explicit Holding(LeaseOptions terms = {}) {
    mutex.emplace(*client, "/lock", LockOptions{.lease = terms});
    auto held = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(held.arrived());
    REQUIRE_FALSE(held.error());
    lease = std::move(held.result());
    world.settle();
    world.ensemble.clear_history();
  }
  /// Runs so many functions of those that are due. Returns whether there were as many.
  bool turn(int turns) {
    world.context.restart();
    for (int i = 0; i < turns; ++i) {
      if (world.context.poll_one() == 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::size_t count(std::string_view kind) const {
    std::size_t found = 0;
    for (const auto& each : world.ensemble.history()) found += each.kind == kind ? 1U : 0U;
    return found;
  }
  [[nodiscard]] std::string shown() {
    return world.ensemble.operate(request::Get{lease.node()}).data;
  }
  void end() {
    lease.release();
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/lock").empty());
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    CHECK(world.end(client));
  }

  World world;
  std::unique_ptr<Client> client = world.client("holder");
  std::optional<InterProcessMutex> mutex;
  Lease lease;
};

TEST_CASE("early release: two new identities end with the lease, at every turn") {
  bool more = true;
  for (int turns = 0; more; ++turns) {
    Holding holding;
    Outcome<> first;
    Outcome<> second;
    holding.lease.async_set_identity("first", first.handler());
    holding.lease.async_set_identity("second", second.handler());
    more = holding.turn(turns);
    holding.lease.release();
    for (const auto& each : {first, second}) {
      REQUIRE(holding.world.run_until_arrived(each));
      CHECK((!each.error() || each.error() == Errc::lock_lost));
    }
    if (turns == 0) CHECK(holding.count("multi") == 0);
    holding.end();
  }
}

TEST_CASE("early release: a new identity that waits for another one is cancelled, at every turn") {
  bool more = true;
  for (int turns = 0; more; ++turns) {
    Holding holding;
    asio::cancellation_signal signal;
    Outcome<> first;
    Outcome<> second;
    holding.lease.async_set_identity("first", first.handler());
    holding.lease.async_set_identity("second",
                                     asio::bind_cancellation_slot(signal.slot(), second.handler()));
    more = holding.turn(turns);
    signal.emit(asio::cancellation_type::total);
    REQUIRE(holding.world.run_until_arrived(first));
    REQUIRE(holding.world.run_until_arrived(second));
    CHECK_FALSE(first.error());
    CHECK((!second.error() || second.error() == asio::error::operation_aborted));
    if (!second.error()) CHECK(holding.shown() == "second");
    holding.end();
  }
}

TEST_CASE("early release: a new identity that waits for its turn is cancelled at once") {
  Holding holding;
  asio::cancellation_signal signal;
  Outcome<> first;
  Outcome<> second;
  holding.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("holder", Faults{{0, Fault{.kind = FaultKind::delay}}}));
  holding.lease.async_set_identity("first", first.handler());
  holding.lease.async_set_identity("second",
                                   asio::bind_cancellation_slot(signal.slot(), second.handler()));
  holding.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(holding.world.run_until_arrived(second));
  CHECK(second.error() == asio::error::operation_aborted);
  CHECK_FALSE(first.arrived());
  holding.world.ensemble.release_replies();
  REQUIRE(holding.world.run_until_arrived(first));
  CHECK_FALSE(first.error());
  CHECK(holding.shown() == "first");
  holding.end();
}

TEST_CASE("early release: a wait for the loss ends without one, at every turn of a disconnection") {
  bool more = true;
  for (int turns = 0; more; ++turns) {
    Holding holding;
    Outcome<> lost;
    holding.lease.async_wait_lost(lost.handler());
    holding.world.settle();
    holding.world.ensemble.disconnect(holding.client->session().id);
    more = holding.turn(turns);
    holding.lease.release();
    REQUIRE(holding.world.run_until_arrived(lost));
    CHECK(lost.error() == asio::error::operation_aborted);
    holding.end();
  }
}

TEST_CASE("early release: a listener for requests to release comes too late for its lease") {
  Holding holding;
  const Subscription listening = holding.lease.make_revocable([] {});
  holding.lease.release();
  holding.world.settle();
  CHECK(holding.count("get") == 0);
  holding.end();
}

TEST_CASE("early release: a cautious lease that is lost while its node is read writes nothing") {
  Holding holding{{.loss_policy = LossPolicy::on_suspended}};
  const std::string message{revoke_message};
  holding.world.ensemble.operate(request::Set{holding.lease.node(), message});
  // The connection fails at the read, which is repeated on the next connection.
  holding.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("holder", Faults{{0, Fault{.kind = FaultKind::disconnect}}}));
  int requests = 0;
  const Subscription listening = holding.lease.make_revocable([&] { ++requests; });
  REQUIRE(holding.world.run_until([&] { return holding.count("get") == 2; }));
  CHECK(holding.world.run_until_idle(*holding.client));
  CHECK(holding.lease.state() == LeaseState::lost);
  CHECK(requests == 0);
  CHECK(holding.count("multi") == 0);
  CHECK(holding.shown() == message);
  holding.end();
}

TEST_CASE("early release: an identity that was given up and never written is not restored") {
  Holding holding;
  asio::cancellation_signal signal;
  Outcome<> given_up;
  const auto plan =
      std::make_shared<FaultsAt>("holder", Faults{{1, Fault{.kind = FaultKind::fail_before}}});
  plan->submitted = [&](std::size_t step) {
    if (step != 1) return;
    asio::post(holding.world.context, [&] { signal.emit(asio::cancellation_type::total); });
  };
  holding.world.ensemble.set_fault_plan(plan);
  int requests = 0;
  holding.lease.async_set_identity("given up",
                                   asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  REQUIRE(holding.world.run_until_arrived(given_up));
  CHECK(given_up.error());
  plan->submitted = nullptr;
  REQUIRE(
      holding.world.run_until([&] { return is_connected(holding.client->connection_state()); }));
  const Subscription listening = holding.lease.make_revocable([&] { ++requests; });
  REQUIRE(holding.world.run_until([&] { return holding.world.ensemble.watches() == 1; }));
  holding.world.ensemble.operate(request::Set{holding.lease.node(), std::string{revoke_message}});
  CHECK(holding.world.run_until([&] { return holding.shown() != revoke_message; }));
  CHECK(holding.shown() == "holder");
  CHECK(holding.world.run_until([&] { return requests == 1; }));
  holding.end();
}

}  // namespace
}  // namespace custodian::tests::early_release_test
