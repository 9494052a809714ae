// Requests to a holder to release, with a fault at every request of either side: a holder that
// listens is notified each time or has lost the lock, and nothing is left.

#include <iostream>

#include "custodian/inspect/inspect.hpp"
#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::revocation_test {

namespace {

struct Run {
  std::string fault;  ///< empty if all is well
  std::size_t steps = 0;
};

std::string data_of(World& world, const std::string& node) {
  return world.ensemble.operate(request::Get{node, nullptr}).data;
}

bool is_named(World& world, const Lease& lease) { return data_of(world, lease.node()) == "holder"; }

/// Says when "other" sends its second request.
enum class Pace {
  when_told,  ///< the holder is notified, and has not written its identity back yet
  when_named,
};

/// "holder" listens, and "other" asks twice. The requests of the client `observed` are counted, and
/// meet the faults.
Run ask_twice(const std::string& observed, Pace pace, const Faults& faults) {
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
      const bool named = (time == 1 && pace == Pace::when_told) || world.run_until([&] {
        return is_named(world, lease) || lease.state() == LeaseState::lost;
      });
      if (!named) complain("the holder's identity is not written back");
    }
    // If there are more notices than requests, "other" has lost a reply and sent its request again.
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
    for (const Pace pace : {Pace::when_told, Pace::when_named}) {
      const Run plain = ask_twice(observed, pace, {});
      CHECK(plain.fault.empty());
      CHECK(plain.steps >= 2);
      for (std::size_t at = 0; at < plain.steps; ++at) {
        for (const Fault& fault : sampled(all_faults())) {
          const Run run = ask_twice(observed, pace, {{at, fault}});
          if (!run.fault.empty()) {
            FAIL_CHECK(observed << ", request " << at << ": " << describe(fault) << ": "
                                << run.fault);
          }
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: revocation, each fault at each request\n";
}

/// The holder is asked once, and again when its client sends the request `at`, or when that request
/// is answered. The holder is notified both times, and its identity is back in the end.
Run ask_between(std::size_t at, CancelMoment moment, const Faults& faults) {
  Run result;
  World world;
  auto holder = world.client("holder");
  const auto plan = std::make_shared<FaultsAt>("holder", faults);
  {
    InterProcessMutex mutex{*holder, "/lock"};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    if (!held.arrived() || held.error()) return {"the holder does not get the lock"};
    Lease& lease = held.result();
    int told = 0;
    std::optional<int> told_before;
    const auto ask = [&] {
      world.ensemble.operate(request::Set{lease.node(), std::string{revoke_message}});
    };
    const auto ask_at = [&](std::size_t step) {
      if (step != at || told_before) return;
      told_before = told;
      ask();
    };
    if (moment == CancelMoment::request_sent) plan->submitted = ask_at;
    if (moment == CancelMoment::before_reply) plan->replying = ask_at;
    if (moment == CancelMoment::after_reply) plan->replied = ask_at;
    const Subscription listening = lease.make_revocable([&] { ++told; });
    if (!world.run_until([&] { return world.ensemble.watches() == 1; })) return {"no watch"};
    world.ensemble.set_fault_plan(plan);
    ask();
    const auto is_over = [&] { return lease.state() == LeaseState::lost; };
    const bool named = world.run_until([&] {
      return is_over() || (told > 0 && (!told_before || told > *told_before) &&
                           is_named(world, lease) && world.ensemble.watches() == 1);
    });
    if (!named) result.fault = "a request is lost, or the identity";
    result.steps = plan->steps();
    lease.release();
    if (!world.run_until_idle(*holder)) result.fault = "operations or watches are left";
    if (!world.ensemble.children("/lock").empty()) result.fault = "a node is left";
    // The plan's functions refer to locals of this block, so the plan is removed first.
    world.ensemble.set_fault_plan({});
  }
  if (!world.end(holder)) result.fault = "something keeps the client alive";
  return result;
}

TEST_CASE("revocation: a request between any two steps of another one is never lost") {
  const std::size_t steps = ask_between(1000, CancelMoment::request_sent, {}).steps;
  REQUIRE(steps >= 3);  // the holder reads, writes its identity back, and reads
  std::size_t cases = 0;
  for (const CancelMoment moment :
       {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
    for (std::size_t at = 0; at < steps; ++at) {
      const Run plain = ask_between(at, moment, {});
      if (!plain.fault.empty()) FAIL_CHECK("request " << at << ": " << plain.fault);
      for (std::size_t failing = 0; failing < plain.steps; ++failing) {
        for (const Fault& fault : sampled(all_faults())) {
          const Run run = ask_between(at, moment, {{failing, fault}});
          if (!run.fault.empty()) {
            FAIL_CHECK("asked at " << at << ", request " << failing << ": " << describe(fault)
                                   << ": " << run.fault);
          }
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: a request between, each fault at each request\n";
}

/// Allows the holder to read its node, but refuses its writes.
class WritesAreRefused final : public testing::FaultPlan {
 public:
  WritesAreRefused(World& world, std::string node) : world_{world}, node_{std::move(node)} {}
  // The holder writes its identity back in a transaction.
  Fault on_submit(const Submission& submission) override {
    if (submission.kind == "multi") world_.ensemble.refuse(node_);
    return {};
  }
  void before_reply(const Submission& submission, const Reply&) override {
    if (submission.kind == "multi") world_.ensemble.permit(node_);
  }

 private:
  World& world_;
  const std::string node_;
};

TEST_CASE("revocation: a holder that may not write its identity back is told of each request") {
  World world;
  ClientOptions options = world.options("holder");
  std::size_t warnings = 0;
  options.log = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning && message.find("write the identity") != message.npos) {
      ++warnings;
    }
  };
  auto holder = world.client(std::move(options));
  {
    InterProcessMutex mutex{*holder, "/lock"};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(held.arrived());
    Lease& lease = held.result();
    world.ensemble.set_fault_plan(std::make_shared<WritesAreRefused>(world, lease.node()));
    int told = 0;
    const Subscription listening = lease.make_revocable([&] { ++told; });
    for (int time = 1; time <= 3; ++time) {
      world.ensemble.operate(request::Set{lease.node(), std::string{revoke_message}});
      REQUIRE(world.run_until([&] { return told == time && warnings == 1; }));
    }
    world.settle();
    CHECK(warnings == 1);
    CHECK(lease.state() == LeaseState::held);
    lease.release();
    CHECK(world.run_until_idle(*holder));
  }
  CHECK(world.end(holder));
}

TEST_CASE("revocation: who looks at a holder that was asked sees its identity, and the request") {
  World world;
  auto holder = world.client("holder");
  {
    InterProcessMutex mutex{*holder, "/lock"};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(held.arrived());
    const auto look = [&] {
      auto seen = run<Inspection>(
          world, [&](auto done) { async_inspect(*holder, "/lock", InspectOptions{}, done); });
      REQUIRE(seen.arrived());
      REQUIRE(seen.result().contenders.size() == 1);
      return seen.result().contenders.front();
    };
    const auto ask = [&] {
      world.ensemble.operate(request::Set{held.result().node(), std::string{revoke_message}});
    };
    CHECK_FALSE(look().is_asked_to_release);
    ask();
    // The holder has no listener yet, and does not watch its node.
    Inspected seen = look();
    CHECK(seen.is_asked_to_release);
    CHECK(seen.participant.identity.empty());
    int told = 0;
    const Subscription listening = held.result().make_revocable([&] { ++told; });
    REQUIRE(world.run_until([&] { return told == 1 && is_named(world, held.result()); }));
    seen = look();
    CHECK(seen.is_asked_to_release);
    CHECK(seen.participant.identity == "holder");
    // A later listener is notified, too, though the node has the identity again.
    int late = 0;
    const Subscription too = held.result().make_revocable([&] { ++late; });
    CHECK(world.run_until([&] { return late == 1; }));
    CHECK(told == 1);
    held.result().release();
    CHECK(world.run_until_idle(*holder));
  }
  CHECK(world.end(holder));
}

TEST_CASE("revocation: no contender has the request for its identity") {
  World world;
  auto client = world.client("holder");
  const LockOptions options{.identity = std::string{revoke_message}};
  try {
    const InterProcessMutex mutex{*client, "/lock", options};
    FAIL("the lock is made");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
  }
  CHECK(world.end(client));
}

TEST_CASE("revocation: a change of identity is no request, and is what stands there after one") {
  World world;
  auto holder = world.client("holder");
  {
    InterProcessMutex mutex{*holder, "/lock"};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(held.arrived());
    const Lease lease = std::move(held.result());
    const auto set_identity = [&](std::string identity) {
      auto changed = run<>(world, [&](auto done) { lease.async_set_identity(identity, done); });
      REQUIRE(changed.arrived());
      CHECK_FALSE(changed.error());
    };
    const auto look = [&] { return world.ensemble.operate(request::Get{lease.node()}); };
    const auto is_shown_as_asked = [&] {
      const Reply seen = look();
      return is_asked(GetResult{seen.data, seen.stat});
    };
    set_identity("second");
    CHECK_FALSE(is_shown_as_asked());
    int told = 0;
    const Subscription listening = lease.make_revocable([&] { ++told; });
    // The one watch is the holder's, on its own node.
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 1; }));
    world.settle();
    CHECK(told == 0);
    for (int request = 1; request <= 3; ++request) {
      world.ensemble.operate(request::Set{lease.node(), std::string{revoke_message}});
      REQUIRE(world.run_until([&] { return told == request && look().data != revoke_message; }));
      CHECK(look().data == "second");
      CHECK(is_shown_as_asked());
    }
    set_identity("third");
    CHECK(look().data == "third");
    CHECK(is_shown_as_asked());
    CHECK(told == 3);
  }
  CHECK(world.end(holder));
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
    // The holder still notices that its node is deleted.
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
    // There is no listener, so the event ends the watch that the acquire set.
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
}  // namespace custodian::tests::revocation_test
