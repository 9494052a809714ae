// What happens at one moment of a wait, or of a signal, at which somebody else acts or a reply is
// lost.

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "scripted/blocking_calls.hpp"
#include "scripted/conditions/condition_party.hpp"
#include "scripted/moments.hpp"

namespace custodian::tests::condition_moments_test {
namespace {

using namespace std::chrono_literals;
using namespace condition_party;
using condition_party::Party;

std::string below(const std::string& name) { return std::string{path} + "/" + name; }

/// Gives a signal as a waiter does that passes one on.
void pass_signal_on(World& world, const std::string& waiter) {
  world.ensemble.operate(request::Set{below(waiter), "signalled"});
  world.make(below("sig-" + waiter));
}

TEST_CASE("condition: a wait fails when the counter of its line is at its end", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  fixture.world.make("/orders");
  fixture.world.make(path);
  // Behind the largest number the servers' counter goes on with the smallest.
  fixture.world.ensemble.set_next_sequence(path, std::numeric_limits<std::int32_t>::min());
  for (int i = 0; i < 2; ++i) {
    Lease lease = waiter.acquire();
    Outcome<Woken> woken;
    waiter.condition->async_wait(std::move(lease), woken.handler());
    REQUIRE(fixture.world.run_until_arrived(woken));
    CHECK(woken.error() == Errc::sequence_exhausted);
    CHECK(fixture.world.run_until([&] { return fixture.names().empty(); }));
  }
}

TEST_CASE("condition: a waiter sleeps though the one in front goes before it is watched",
          "[condition]") {
  Fixture fixture;
  Party one{fixture.world, "one"};
  Party two{fixture.world, "two"};
  Party signaller{fixture.world, "signaller"};
  const auto first = one.waiting();
  // The first listing looks for signals that are left, the second one for the waiter in front.
  const auto plan = std::make_shared<Moments>("two");
  bool has_gone = false;
  plan->behind({"children", 1}, [&] {
    fixture.world.ensemble.expire(one.client->session().id);
    has_gone = true;
  });
  Lease lease = two.acquire();
  fixture.world.ensemble.set_fault_plan(plan);
  Outcome<Woken> second;
  two.condition->async_wait(std::move(lease), second.handler());
  fixture.check(first, Status::spurious);
  CHECK(has_gone);
  fixture.check_asleep(second);
  fixture.world.ensemble.set_fault_plan(nullptr);
  CHECK(signaller.signal() == 1);
  fixture.check(second, Status::signalled);
}

TEST_CASE("condition: a waiter that may not pass a signal on ends with the error", "[condition]") {
  TwoWaiters fixture;
  Lease lease = fixture.signaller.acquire();
  CHECK(fixture.signaller.signal_by(lease) == 1);
  const auto plan = std::make_shared<Moments>("two");
  plan->before({"multi"}, [&] { fixture.world.ensemble.refuse(path); });
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.one.die();
  REQUIRE(fixture.world.run_until_arrived(fixture.second));
  CHECK(fixture.second.error() == ServerErrc::no_auth);
  fixture.world.ensemble.set_fault_plan(nullptr);
  fixture.world.ensemble.permit(path);
  lease.release();
  fixture.check(fixture.first, Status::spurious);
  CHECK(fixture.world.run_until_idle(*fixture.two.client));
  fixture.world.ensemble.remove_tree(path);
}

TEST_CASE("condition: a waiter passes a signal on though the reply to that is lost",
          "[condition]") {
  for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
    TwoWaiters fixture;
    Lease lease = fixture.signaller.acquire();
    CHECK(fixture.signaller.signal_by(lease) == 1);
    const auto plan = std::make_shared<Moments>("two");
    plan->fault_at({"multi"}, {.kind = kind});
    fixture.world.ensemble.set_fault_plan(plan);
    fixture.one.die();
    lease.release();
    // Each has the lock when the other has released it.
    const std::vector<Outcome<Woken>> both{fixture.first, fixture.second};
    CHECK(fixture.world.run_until([&] {
      for (const Outcome<Woken>& each : both) {
        if (each.arrived()) each.result().lease.release();
      }
      return std::ranges::all_of(both, &Outcome<Woken>::arrived);
    }));
    REQUIRE((fixture.first.arrived() && fixture.second.arrived()));
    CHECK(fixture.first.result().status == Status::spurious);
    CHECK(fixture.second.result().status == Status::signalled);
    for (const Outcome<Woken>& each : both) each.result().lease.release();
    fixture.world.ensemble.set_fault_plan(nullptr);
  }
}

TEST_CASE("condition: a waiter whose node a person removes just then was not signalled",
          "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Party signaller{fixture.world, "signaller"};
  const auto woken = waiter.waiting();
  const std::string own = below(fixture.first_waiter());
  const auto plan = std::make_shared<Moments>("waiter");
  plan->before({"multi"}, [&] { fixture.world.remove(own); });
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK(signaller.signal() == 1);
  fixture.check(woken, Status::spurious);
  fixture.world.ensemble.set_fault_plan(nullptr);
  // The signal is left, for the next waiter to clear it up.
  CHECK(fixture.names().size() == 1);
  const auto next = waiter.waiting(Deadline{brief_limit});
  fixture.check(next, Status::timeout);
}

TEST_CASE("condition: a wait and a signal fail when their client is closed", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Lease lease = waiter.acquire();
  lease.release();
  const auto closed = run<bool>(
      fixture.world, [&](auto done) { waiter.client->async_close(Deadline::never(), done); });
  REQUIRE(closed.arrived());
  const auto signalled = run<std::size_t>(
      fixture.world, [&](auto done) { waiter.condition->async_signal(lease, {}, done); });
  REQUIRE(signalled.arrived());
  CHECK(signalled.error() == Errc::closed);
  const auto woken = run<Woken>(
      fixture.world, [&](auto done) { waiter.condition->async_wait(std::move(lease), done); });
  REQUIRE(woken.arrived());
  CHECK(woken.error() == Errc::closed);
}

TEST_CASE("condition: a signal that somebody passes on first is not given twice", "[condition]") {
  for (const FaultKind kind : {FaultKind::pass, FaultKind::fail_before}) {
    TwoWaiters fixture;
    Lease lease = fixture.signaller.acquire();
    const std::string waiter = fixture.first_waiter();
    const auto plan = std::make_shared<Moments>("signaller");
    plan->fault_at({"multi"}, {.kind = kind});
    plan->before({"multi"}, [&] { pass_signal_on(fixture.world, waiter); });
    fixture.world.ensemble.set_fault_plan(plan);
    // The signaller's own signal goes to the second waiter.
    CHECK(fixture.signaller.signal_by(lease) == 1);
    fixture.world.ensemble.set_fault_plan(nullptr);
    CHECK(fixture.names().size() == 4);
    lease.release();
    fixture.check(fixture.first, Status::signalled);
    fixture.check(fixture.second, Status::signalled);
  }
}

TEST_CASE("condition: a signaller that loses the lock while it lists the waiters fails",
          "[condition]") {
  Fixture fixture;
  Party signaller{fixture.world, "signaller"};
  const Lease lease = signaller.acquire();
  const auto plan = std::make_shared<Moments>("signaller");
  plan->fault_at({"children"}, {.kind = FaultKind::expire_before});
  fixture.world.ensemble.set_fault_plan(plan);
  const auto signalled = run<std::size_t>(
      fixture.world, [&](auto done) { signaller.condition->async_signal(lease, {}, done); });
  fixture.world.ensemble.set_fault_plan(nullptr);
  REQUIRE(signalled.arrived());
  CHECK(signalled.error() == Errc::lock_lost);
}

TEST_CASE("calls: a thread that has lost the lock by a wait does not wait again", "[condition]") {
  BlockingClient one;
  InterProcessMutex mutex{one.client, "/lock"};
  const InterProcessCondition condition{mutex, "/changed"};
  std::unique_lock<InterProcessMutex> lock{mutex};
  one.make("/changed");
  one.ensemble.refuse("/changed");
  check_throws(ServerErrc::no_auth, "InterProcessCondition::wait", "/changed",
               [&] { condition.wait(lock); });
  one.ensemble.permit("/changed");
  REQUIRE(lock.owns_lock());
  check_throws(make_error_code(boost::system::errc::operation_not_permitted),
               "InterProcessCondition::wait", "/changed", [&] { condition.wait(lock); });
}

}  // namespace
}  // namespace custodian::tests::condition_moments_test
