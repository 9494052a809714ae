// A distributed atomic whose writes other clients forestall: its tries, and its lock.

#include <limits>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/atomics/atomic_fixture.hpp"
#include "scripted/atomics/lost_transaction.hpp"

namespace custodian::tests::atomic_lock_test {
namespace {

using namespace atomics;

TEST_CASE("an atomic: tries are limited by the options, and the value is as others left it",
          "[atomics]") {
  Fixture fixture{{.contention = RetryPolicy::n_times(2, std::chrono::milliseconds{0})}};
  static_cast<void>(fixture.add(0));
  const auto plan = std::make_shared<FaultsAt>("observed");
  // First the client watches the node. After each of its reads another client writes.
  plan->replying = [&](std::size_t reply) {
    if (reply % 2 == 1) fixture.write(static_cast<std::int64_t>(1000 + reply));
  };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK(fixture.add(1).error() == ServerErrc::bad_version);
  CHECK(plan->steps() == 7);
  CHECK(fixture.is(1005));
}

TEST_CASE("an atomic: an exchange that does not match is an answer, however few tries are allowed",
          "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Fixture fixture{{.contention = RetryPolicy::none(), .settle = settle}};
    const Number old = fixture.add(1).result().after;
    fixture.write(7);
    const auto exchanged = run<Done>(
        fixture.world, [&](auto done) { fixture.number->async_compare_exchange(old, 9, done); });
    CHECK_FALSE(exchanged.error());
    CHECK_FALSE(exchanged.result().written);
    CHECK(exchanged.result().after.value == 7);
  }
}

TEST_CASE("an atomic: tries are limited by their time, if the options say so", "[atomics]") {
  Fixture fixture{
      {.contention = RetryPolicy::until_elapsed(brief_limit, std::chrono::milliseconds{1})}};
  static_cast<void>(fixture.add(0));
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) { fixture.write(static_cast<std::int64_t>(step)); };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK(fixture.add(1).error() == ServerErrc::bad_version);
}

TEST_CASE("an atomic: repetitions after lost replies are limited by their time, too", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(0));
  fixture.world.ensemble.set_fault_plan(std::make_shared<LostTransaction>(
      "observed", Fault{.kind = FaultKind::fail_before}, std::numeric_limits<int>::max()));
  const OperationOptions briefly{
      .retry = RetryPolicy::until_elapsed(brief_limit, std::chrono::milliseconds{1})};
  const auto added = run<Done>(
      fixture.world, [&](auto done) { fixture.number->async_fetch_add(1, briefly, done); });
  CHECK(added.error() == ServerErrc::connection_loss);
  const auto created = run<bool>(
      fixture.world, [&](auto done) { fixture.number->async_initialize(1, briefly, done); });
  CHECK(created.error() == ServerErrc::connection_loss);
}

TEST_CASE("an atomic: after some refused tries an update acquires a lock, and writes under it",
          "[atomics]") {
  Fixture fixture{{.contention = RetryPolicy::forever(std::chrono::milliseconds{1}),
                   .settle = Settle::exactly_once,
                   .promoted = PromotedToLock{.path = "/lock", .after_tries = 2}}};
  static_cast<void>(fixture.add(0));
  auto other = fixture.world.client("other");
  {
    InterProcessMutex mutex{*other, "/lock"};
    auto held = run<Lease>(fixture.world, [&](auto done) { mutex.async_acquire(done); });
    int disturbances = 3;
    const auto plan = std::make_shared<FaultsAt>("observed");
    plan->submitted = [&](std::size_t) {
      if (disturbances-- > 0) fixture.write(500 + disturbances);
    };
    fixture.world.ensemble.set_fault_plan(plan);
    Outcome<Done> added;
    fixture.number->async_fetch_add(1, added.handler());
    REQUIRE(fixture.world.run_until([&] {
      return fixture.world.ensemble.operate(request::GetChildren{"/lock"}).children.size() == 2;
    }));
    fixture.world.settle();
    CHECK_FALSE(added.arrived());
    fixture.write(700);
    held.result().release();
    REQUIRE(fixture.world.run_until_arrived(added));
    CHECK_FALSE(added.error());
    CHECK(added.result().promoted);
    CHECK(added.result().before.value == 700);
    held = {};
  }
  CHECK(fixture.world.end(other));
}

TEST_CASE("an atomic: an update whose lock is taken away acquires it again", "[atomics]") {
  Fixture fixture{{.settle = Settle::exactly_once,
                   .promoted = PromotedToLock{.path = "/lock", .after_tries = 0}}};
  static_cast<void>(fixture.add(0));
  bool taken = false;
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t) {
    const auto line = fixture.world.ensemble.operate(request::GetChildren{"/lock"}).children;
    // The update has the lock, and is about to write.
    if (!taken && !line.empty() && fixture.world.ensemble.history().back().kind == "multi") {
      taken = true;
      fixture.world.remove("/lock/" + line.front());
    }
  };
  fixture.world.ensemble.set_fault_plan(plan);
  const auto added = fixture.add(1);
  CHECK_FALSE(added.error());
  CHECK(taken);
  CHECK(added.result().tries == 2);
  CHECK(fixture.is(1));
}

}  // namespace
}  // namespace custodian::tests::atomic_lock_test
