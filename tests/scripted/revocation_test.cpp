// Requests to a holder to let go, with a fault at every request of either side: who listens is
// told, each time, or has lost the lock; and nothing is left.

#include <iostream>

#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/revoke.hpp"
#include "lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

namespace {

struct Run {
  std::string fault;  ///< empty: all is well
  std::size_t steps = 0;
};

/// "holder" listens, "other" asks twice; the requests of `observed` are counted, and fail.
Run ask_twice(const std::string& observed, const Faults& faults) {
  Run result;
  const auto complain = [&](const std::string& what) {
    if (result.fault.empty()) result.fault = what;
  };
  World world;
  auto holder = world.client("holder");
  auto other = world.client("other");
  const auto plan = std::make_shared<FaultsAt>(observed, faults);
  {
    InterProcessMutex mutex{*holder, "/lock"};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    if (!held.arrived() || held.error()) return {"the holder does not get the lock"};
    Lease& lease = held.result();
    const std::string node = lease.node();
    world.ensemble.set_fault_plan(plan);

    int told = 0;
    Subscription listening = lease.make_revocable([&] { ++told; });
    for (int time = 1; time <= 2; ++time) {
      const int before = told;
      const auto asked = run<bool>(world, [&](auto done) { async_revoke(*other, node, done); });
      if (!asked.arrived()) return {"a request does not end"};
      if (asked.error()) complain("a request ends with " + asked.error().message());
      if (!asked.result()) {
        if (world.ensemble.exists(node)) complain("nobody is asked, though the node is there");
        if (!world.run_until([&] { return lease.state() == LeaseState::lost; })) {
          complain("the node is gone, and the lease is not lost");
        }
        break;
      }
      const bool done =
          world.run_until([&] { return told > before || lease.state() == LeaseState::lost; });
      if (!done) complain("the holder is not told, time " + std::to_string(time));
    }
    // It was a lost reply if it is told more often than it was asked.
    if (told > 2 && (faults.empty() || observed == "holder")) complain("the holder is told thrice");
    lease.release();
    if (!world.run_until_idle(*holder)) complain("operations or watches of the holder are left");
    if (!world.run_until_idle(*other)) complain("operations or watches of the other are left");
    if (!world.ensemble.children("/lock").empty()) complain("a node is left");
    if (world.ensemble.watches() != 0) complain("a watch is left on the server");
  }
  if (!world.end(holder) || !world.end(other)) complain("something keeps a client alive");
  result.steps = plan->steps();
  return result;
}

TEST_CASE("revocation: a holder who listens is told each time, through every fault") {
  std::size_t cases = 0;
  for (const std::string observed : {"holder", "other"}) {
    const Run plain = ask_twice(observed, {});
    CHECK(plain.fault.empty());
    CHECK(plain.steps >= 2);
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : all_faults()) {
        const Run run = ask_twice(observed, {{at, fault}});
        if (!run.fault.empty()) {
          FAIL_CHECK(observed << ", request " << at << ": " << describe(fault) << ": "
                              << run.fault);
        }
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: revocation, each fault at each request\n";
}

TEST_CASE(
    "revocation: of several requests at once at least one is told, and who comes later is told, "
    "too") {
  World world;
  auto holder = world.client("holder");
  {
    InterProcessMutex mutex{*holder, "/lock"};
    const auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(held.arrived());
    int early = 0;
    int late = 0;
    int gone = 0;
    const Subscription listening = held.result().make_revocable([&] { ++early; });
    Subscription left = held.result().make_revocable([&] { ++gone; });
    left.reset();
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 1; }));
    const auto write = [&](const std::string& data) {
      world.ensemble.operate(request::Set{held.result().node(), data});
    };
    write("something else");
    write(std::string{revoke_message});
    write(std::string{revoke_message});
    REQUIRE(world.run_until([&] { return early > 0; }));
    const Subscription too = held.result().make_revocable([&] { ++late; });
    REQUIRE(world.run_until([&] { return late > 0; }));
    write("something else");
    CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
    world.settle();
    CHECK(early == 1);
    CHECK(late == 1);
    CHECK(gone == 0);
    // It goes on noticing that the node is deleted.
    world.remove(held.result().node());
    CHECK(world.run_until([&] { return held.result().state() == LeaseState::lost; }));
    CHECK(held.result().loss_reason() == LossReason::node_deleted);
    held.result().release();
    CHECK(world.run_until_idle(*holder));
    CHECK(world.ensemble.watches() == 0);
  }
  CHECK(world.end(holder));
}

TEST_CASE(
    "revocation: a holder who was woken by a waiter's end hears of its node's deletion after a "
    "request, too") {
  World world;
  auto other = world.client("other");
  auto holder = world.client("holder");
  {
    InterProcessMutex others{*other, "/lock"};
    InterProcessMutex mutex{*holder, "/lock"};
    auto first = run<Lease>(world, [&](auto done) { others.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<Lease> held;
    mutex.async_acquire(held.handler());
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 2; }));
    first.result().release();
    REQUIRE(world.run_until_arrived(held));
    // Nobody listens; it is the watch of its wait that this ends.
    CHECK(run<bool>(world, [&](auto done) {
            async_revoke(*other, held.result().node(), done);
          }).result());
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 1; }));
    world.remove(held.result().node());
    CHECK(world.run_until([&] { return held.result().state() == LeaseState::lost; }));
    CHECK(held.result().loss_reason() == LossReason::node_deleted);
    held.result().release();
    CHECK(world.run_until_idle(*holder));
    CHECK(world.run_until_idle(*other));
  }
  CHECK(world.end(holder));
  CHECK(world.end(other));
}

}  // namespace
}  // namespace custodian::tests
