// initialize() of an atomic, and the state that it leaves for later updates.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "scripted/atomics/atomic_fixture.hpp"

namespace custodian::tests::atomic_initialize_test {
namespace {

using namespace atomics;

namespace asio = boost::asio;

TEST_CASE("an atomic: an initialize creates the node once", "[atomics]") {
  Fixture fixture;
  const auto initialize = [&](std::int64_t value) {
    return run<bool>(fixture.world,
                     [&](auto done) { fixture.number->async_initialize(value, done); });
  };
  CHECK(initialize(5).result());
  CHECK_FALSE(initialize(6).result());
  CHECK(fixture.is(5));
}

TEST_CASE("an atomic: an exchange of what an initialize has written needs no look at the node",
          "[atomics]") {
  Fixture fixture;
  CHECK(run<bool>(fixture.world, [&](auto done) {
          fixture.number->async_initialize(5, done);
        }).result());
  const Number read =
      run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); }).result();
  fixture.world.ensemble.clear_history();
  const auto exchanged = run<Done>(
      fixture.world, [&](auto done) { fixture.number->async_compare_exchange(read, 6, done); });
  CHECK(exchanged.result().written);
  CHECK(fixture.is(6));
  CHECK(fixture.world.ensemble.history().size() == 1);
}

TEST_CASE("an atomic: a node that an initialize has created is not taken for the old one",
          "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(40));
  fixture.world.ensemble.remove_tree(place);
  CHECK(run<bool>(fixture.world, [&](auto done) {
          fixture.number->async_initialize(std::int64_t{0}, done);
        }).result());
  fixture.write(7);
  CHECK(fixture.add(1).result().before.value == 7);
  CHECK(fixture.is(8));
}

TEST_CASE("an atomic: an initialize that waits for its turn may be given up, or be late",
          "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(0));
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
  asio::cancellation_signal signal;
  Outcome<Done> first;
  Outcome<bool> late;
  Outcome<bool> cancelled;
  fixture.number->async_fetch_add(1, first.handler());
  fixture.number->async_initialize(5, {.deadline = brief_limit}, late.handler());
  fixture.number->async_initialize(
      6, asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  fixture.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(fixture.world.run_until_arrived(late));
  REQUIRE(fixture.world.run_until_arrived(cancelled));
  CHECK(late.error() == Errc::deadline_exceeded);
  CHECK(cancelled.error() == asio::error::operation_aborted);
  CHECK_FALSE(first.arrived());
  fixture.world.ensemble.release_replies();
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(fixture.is(1));
}

}  // namespace
}  // namespace custodian::tests::atomic_initialize_test
