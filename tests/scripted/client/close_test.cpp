// An orderly close, in a program that runs the client's context itself.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::close_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct Fixture {
  Lease acquire() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  Outcome<bool> begin_close(Deadline deadline) {
    Outcome<bool> closing;
    client->async_close(deadline, closing.handler());
    world.settle();
    return closing;
  }

  World world;
  std::unique_ptr<Client> client = world.client("mine");
  InterProcessMutex mutex{*client, "/lock"};
};

TEST_CASE("closing: with nothing held it is over at once") {
  Fixture fixture;
  const auto closing = fixture.begin_close(World::limit);
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK_FALSE(closing.error());
  CHECK(closing.result());
  CHECK(fixture.client->connection_state() == ConnectionState::closed);
  CHECK(fixture.world.ensemble.sessions().empty());
  // A second close succeeds as well.
  const auto again = fixture.begin_close(World::limit);
  REQUIRE(fixture.world.run_until_arrived(again));
  CHECK(again.result());
}

TEST_CASE("closing: it waits for the last lease, and lets nobody in") {
  Fixture fixture;
  Lease first = fixture.acquire();
  Lease second = first.share();
  Outcome<Lease> waiting;
  fixture.mutex.async_acquire(waiting.handler());
  const auto closing = fixture.begin_close(World::limit);
  REQUIRE(fixture.world.run_until_arrived(waiting));
  CHECK(waiting.error() == Errc::closed);
  const auto late =
      run<Lease>(fixture.world, [&](auto done) { fixture.mutex.async_acquire(done); });
  CHECK(late.error() == Errc::closed);
  first.release();
  fixture.world.settle();
  CHECK_FALSE(closing.arrived());
  CHECK(second.state() == LeaseState::held);
  second.release();
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK(closing.result());
  CHECK(fixture.world.ensemble.sessions().empty());
}

TEST_CASE("closing: at the deadline who still holds is told, and the session ends") {
  Fixture fixture;
  const Lease lease = fixture.acquire();
  const auto closing = fixture.begin_close(20ms);
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK_FALSE(closing.error());
  CHECK_FALSE(closing.result());
  CHECK(lease.state() == LeaseState::lost);
  CHECK(lease.loss_reason() == LossReason::closed);
  CHECK(fixture.world.ensemble.sessions().empty());
}

TEST_CASE("closing: who gives it up keeps a client that lets nobody in") {
  Fixture fixture;
  Lease lease = fixture.acquire();
  asio::cancellation_signal signal;
  Outcome<bool> closing;
  fixture.client->async_close(World::limit,
                              asio::bind_cancellation_slot(signal.slot(), closing.handler()));
  fixture.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK(closing.error() == asio::error::operation_aborted);
  CHECK(lease.state() == LeaseState::held);
  const auto late =
      run<Lease>(fixture.world, [&](auto done) { fixture.mutex.async_acquire(done); });
  CHECK(late.error() == Errc::closed);
  const auto again = fixture.begin_close(World::limit);
  lease.release();
  REQUIRE(fixture.world.run_until_arrived(again));
  CHECK(again.result());
}

TEST_CASE("closing: who has no time left closes at once, and holders are told") {
  Fixture fixture;
  const Lease lease = fixture.acquire();
  const auto closing = fixture.begin_close(0s);
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK_FALSE(closing.result());
  CHECK(lease.loss_reason() == LossReason::closed);
}

TEST_CASE("closing: a holder is told before the session ends, however often it is closed") {
  Fixture fixture;
  const Lease lease = fixture.acquire();
  bool told_in_time = false;
  const std::stop_callback told{lease.lost(),
                                [&] { told_in_time = !fixture.world.ensemble.sessions().empty(); }};
  const Deadline both{20ms};
  const auto first = fixture.begin_close(both);
  const auto second = fixture.begin_close(both);
  REQUIRE(fixture.world.run_until([&] { return lease.state() == LeaseState::lost; }));
  fixture.client->close();
  REQUIRE(fixture.world.run_until_arrived(first));
  REQUIRE(fixture.world.run_until_arrived(second));
  CHECK(told_in_time);
  CHECK_FALSE(first.result());
  CHECK_FALSE(second.result());
}

TEST_CASE("closing: who waits for leases is told when somebody else closes the client") {
  Fixture fixture;
  Lease lease = fixture.acquire();
  const auto patient = fixture.begin_close(Deadline::never());
  fixture.client->close();
  REQUIRE(fixture.world.run_until_arrived(patient));
  CHECK_FALSE(patient.error());
  CHECK_FALSE(patient.result());
  const auto late = fixture.begin_close(World::limit);
  REQUIRE(fixture.world.run_until_arrived(late));
  CHECK_FALSE(late.result());
}

TEST_CASE("closing: the queue can be looked at while it drains") {
  Fixture fixture;
  Lease lease = fixture.acquire();
  const auto closing = fixture.begin_close(World::limit);
  const auto look = run<std::vector<Participant>>(
      fixture.world, [&](auto done) { fixture.mutex.async_participants({}, done); });
  REQUIRE(look.arrived());
  CHECK_FALSE(look.error());
  CHECK(look.result().size() == 1);
  lease.release();
  REQUIRE(fixture.world.run_until_arrived(closing));
  CHECK(closing.result());
}

}  // namespace
}  // namespace custodian::tests::close_test
