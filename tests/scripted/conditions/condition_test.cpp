// The waiters that a condition wakes, and the fate of a signal whose waiter has gone.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <optional>

#include "scripted/conditions/condition_party.hpp"

namespace custodian::tests::condition_test {
namespace {

using namespace std::chrono_literals;
using namespace condition_party;

TEST_CASE("condition: a signal wakes the waiter, which has the lock again", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Party signaller{fixture.world, "signaller"};
  const auto woken = waiter.waiting();
  CHECK(fixture.names().size() == 1);
  fixture.check_asleep(woken);
  CHECK(signaller.signal() == 1);
  fixture.check(woken, Status::signalled);
  CHECK(signaller.signal() == 0);
}

TEST_CASE("condition: signals wake as many waiters, in the order of their arrival", "[condition]") {
  TwoWaiters fixture;
  const auto third = fixture.one.waiting();
  CHECK(fixture.signaller.signal(2) == 2);
  fixture.check(fixture.first, Status::signalled);
  fixture.check(fixture.second, Status::signalled);
  fixture.check_asleep(third);
  CHECK(fixture.signaller.signal_all() == 1);
  fixture.check(third, Status::signalled);
}

TEST_CASE("condition: a signal is one event to one session", "[condition]") {
  TwoWaiters fixture;
  Lease lease = fixture.signaller.acquire();
  fixture.world.ensemble.clear_history();
  CHECK(fixture.signaller.signal_by(lease) == 1);
  fixture.world.settle();
  const auto history = fixture.world.ensemble.history();
  // The second waiter watches the first one's node, and is not notified of the write to it.
  CHECK(std::ranges::count(history, "two", &Submission::client) == 0);
  CHECK(std::ranges::count(history, "signaller", &Submission::client) == 2);
  lease.release();
  fixture.check(fixture.first, Status::signalled);
  CHECK(fixture.signaller.signal() == 1);
  fixture.check(fixture.second, Status::signalled);
}

TEST_CASE("condition: a signal whose reply is lost wakes one waiter, and counts", "[condition]") {
  TwoWaiters fixture;
  Lease lease = fixture.signaller.acquire();
  // The first request is the listing, and the second one the transaction.
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("signaller", Faults{{1, {FaultKind::fail_after}}}));
  CHECK(fixture.signaller.signal_by(lease) == 1);
  fixture.world.ensemble.set_fault_plan(nullptr);
  lease.release();
  fixture.check(fixture.first, Status::signalled);
  fixture.check_asleep(fixture.second);
  CHECK(fixture.signaller.signal() == 1);
  fixture.check(fixture.second, Status::signalled);
}

TEST_CASE("condition: the signal of a waiter that has died goes to the next one", "[condition]") {
  Fixture fixture;
  Party dying{fixture.world, "dying"};
  Party living{fixture.world, "living"};
  Party signaller{fixture.world, "signaller"};
  const auto first = dying.waiting();
  const auto second = living.waiting();
  Lease lease = signaller.acquire();
  CHECK(signaller.signal_by(lease) == 1);
  // The signalled waiter stands in the lock's queue, behind the signaller.
  dying.die();
  lease.release();
  fixture.check(second, Status::signalled);
  fixture.check(first, Status::spurious);
}

TEST_CASE("condition: signals of several waiters that have died all go on", "[condition]") {
  Fixture fixture;
  Party dying{fixture.world, "dying"};
  Party living{fixture.world, "living"};
  Party signaller{fixture.world, "signaller"};
  const auto first = dying.waiting();
  const auto second = dying.waiting();
  const auto third = living.waiting();
  const auto fourth = living.waiting();
  Lease lease = signaller.acquire();
  for (int i = 0; i < 2; ++i) {
    CHECK(signaller.signal_by(lease) == 1);
  }
  dying.die();
  lease.release();
  // Each waiter gets the lock when the waiters before it have released the lock.
  std::vector<Outcome<Woken>> waiting{third, fourth, first, second};
  CHECK(fixture.world.run_until([&] {
    for (const Outcome<Woken>& each : waiting) {
      if (each.arrived()) each.result().lease.release();
    }
    return std::ranges::all_of(waiting, &Outcome<Woken>::arrived);
  }));
  CHECK(third.result().status == Status::signalled);
  CHECK(fourth.result().status == Status::signalled);
  CHECK(first.result().status == Status::spurious);
  CHECK(second.result().status == Status::spurious);
}

TEST_CASE("condition: a signal that is passed on before its waiter watches wakes that waiter",
          "[condition]") {
  Fixture fixture;
  Party dying{fixture.world, "dying"};
  Party slow{fixture.world, "slow"};
  Party signaller{fixture.world, "signaller"};
  const auto first = dying.waiting();
  const auto second = dying.waiting();
  const auto third = slow.waiting();
  Lease lease = signaller.acquire();
  for (int i = 0; i < 2; ++i) {
    CHECK(signaller.signal_by(lease) == 1);
  }
  // The slow waiter is notified of the deaths, but the reply to its listing does not arrive.
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("slow", Faults{{0, {FaultKind::delay}}}));
  dying.die();
  Outcome<Woken> fourth;
  signaller.condition->async_wait(std::move(lease), fourth.handler());
  const std::vector<Outcome<Woken>> waiting{third, fourth, first, second};
  CHECK(fixture.world.run_until([&] {
    for (const Outcome<Woken>& each : waiting) {
      if (each.arrived()) each.result().lease.release();
    }
    return fourth.arrived();
  }));
  fixture.world.ensemble.release_replies();
  fixture.world.ensemble.set_fault_plan(nullptr);
  CHECK(fixture.world.run_until([&] {
    for (const Outcome<Woken>& each : waiting) {
      if (each.arrived()) each.result().lease.release();
    }
    return std::ranges::all_of(waiting, &Outcome<Woken>::arrived);
  }));
  CHECK(fourth.result().status == Status::signalled);
}

TEST_CASE("condition: signals that are left are cleared up by the next waiter", "[condition]") {
  Fixture fixture;
  Party dying{fixture.world, "dying"};
  Party signaller{fixture.world, "signaller"};
  const auto first = dying.waiting();
  Lease lease = signaller.acquire();
  CHECK(signaller.signal_by(lease) == 1);
  dying.die();
  lease.release();
  fixture.check(first, Status::spurious);
  CHECK(fixture.names().size() == 1);
  // This waiter was not there when the signal was given.
  const auto next = signaller.waiting();
  fixture.check_asleep(next);
  CHECK(fixture.names().size() == 1);
  CHECK(dying.signal() == 1);
  fixture.check(next, Status::signalled);
}

/// The signal of a waiter that has died, while nobody else waited.
struct LeftSignal : Fixture {
  LeftSignal() {
    Party dying{world, "dying"};
    const auto first = dying.waiting();
    Lease lease = signaller.acquire();
    CHECK(signaller.signal_by(lease) == 1);
    dying.die();
    lease.release();
    check(first, Status::spurious);
    signal = std::string{path} + "/" + names().front();
  }
  [[nodiscard]] bool is_there() { return world.ensemble.exists(signal); }

  Party signaller{world, "signaller"};
  Party waiter{world, "waiter"};
  std::string signal;
};

TEST_CASE("condition: a signal that is left is no error when somebody else clears it up",
          "[condition]") {
  bool was_there = true;
  for (std::size_t step = 0; was_there; ++step) {
    LeftSignal left;
    const auto plan = std::make_shared<FaultsAt>("waiter");
    plan->submitted = [&](std::size_t now) {
      if (now != step) return;
      was_there = left.is_there();
      if (was_there) left.world.remove(left.signal);
    };
    was_there = false;
    left.world.ensemble.set_fault_plan(plan);
    const auto woken = left.waiter.waiting();
    left.world.ensemble.set_fault_plan(nullptr);
    INFO(step);
    left.check_asleep(woken);
    CHECK_FALSE(left.is_there());
    CHECK(left.signaller.signal() == 1);
    left.check(woken, Status::signalled);
    REQUIRE(step < 50);
  }
}

TEST_CASE("condition: a waiter that has lost the lock clears no signal up", "[condition]") {
  bool was_held = true;
  for (std::size_t step = 0; was_held; ++step) {
    LeftSignal fixture;

    // An operator deletes the lock's node. Then the signal may be for a later waiter.
    bool was_left = false;
    Lease held = fixture.waiter.acquire();
    const std::string node = held.node();
    const auto plan = std::make_shared<FaultsAt>("waiter");
    plan->submitted = [&](std::size_t now) {
      if (now != step) return;
      was_held = fixture.world.ensemble.exists(node);
      was_left = fixture.is_there();
      if (was_held) fixture.world.remove(node);
    };
    fixture.world.ensemble.set_fault_plan(plan);
    Outcome<Woken> woken;
    was_held = false;
    fixture.waiter.condition->async_wait(std::move(held), woken.handler());
    fixture.world.settle();
    fixture.world.ensemble.set_fault_plan(nullptr);
    INFO(step);
    if (was_held) CHECK(fixture.is_there() == was_left);
    if (fixture.is_there()) fixture.world.remove(fixture.signal);
    if (!woken.arrived()) CHECK(fixture.signaller.signal() == 1);
    REQUIRE(fixture.world.run_until_arrived(woken));
    if (woken.error()) CHECK(woken.error() == Errc::lock_lost);
    woken.result().lease.release();
    REQUIRE(step < 50);
  }
}

TEST_CASE("condition: a waiter whose node is deleted by hand ends without a signal",
          "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  const auto woken = waiter.waiting();
  fixture.world.remove(std::string{path} + "/" + fixture.first_waiter());
  fixture.check(woken, Status::spurious);
}

TEST_CASE("condition: a waiter that is late has the lock again", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  const auto woken = waiter.waiting(Deadline{brief_limit});
  fixture.check(woken, Status::timeout);
}

TEST_CASE("condition: a signal counts that comes before a late waiter has the lock",
          "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Party signaller{fixture.world, "signaller"};
  Outcome<Woken> woken;
  waiter.condition->async_wait_for(waiter.acquire(), brief_limit, woken.handler());
  // The signaller gets the lock first, and releases it when the waiter stands behind it.
  Lease lease = signaller.acquire();
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.world.ensemble.children(lock_path).size() == 2; }));
  CHECK(signaller.signal_by(lease) == 1);
  lease.release();
  fixture.check(woken, Status::signalled);
}

TEST_CASE("condition: a waiter that is cancelled leaves its signal to the next one",
          "[condition]") {
  Fixture fixture;
  Party one{fixture.world, "one"};
  Party two{fixture.world, "two"};
  Party signaller{fixture.world, "signaller"};
  boost::asio::cancellation_signal cancel;
  Outcome<Woken> first;
  Lease held = one.acquire();
  const std::string node = held.node();
  one.condition->async_wait(std::move(held),
                            boost::asio::bind_cancellation_slot(cancel.slot(), first.handler()));
  CHECK(fixture.world.run_until([&] { return !fixture.world.ensemble.exists(node); }));
  const auto second = two.waiting();
  Lease lease = signaller.acquire();
  SECTION("while it sleeps") {}
  SECTION("while it queues for the lock") {
    CHECK(signaller.signal_by(lease) == 1);
    fixture.check_asleep(first);
  }
  cancel.emit(boost::asio::cancellation_type::all);
  REQUIRE(fixture.world.run_until_arrived(first));
  CHECK(first.error() == boost::asio::error::operation_aborted);
  CHECK_FALSE(first.result().lease);
  if (fixture.names().size() == 1) {
    CHECK(signaller.signal_by(lease) == 1);
  }
  lease.release();
  fixture.check(second, Status::signalled);
}

}  // namespace
}  // namespace custodian::tests::condition_test
