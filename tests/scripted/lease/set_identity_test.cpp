// A holder changes its identity, with a fault at every request: others see the new one, or the
// caller learns why not. No other node is written, and nothing is left.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>

#include "custodian/inspect/revoke.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::set_identity_test {
namespace {

constexpr auto path = "/lock";
using Change = Outcome<>;

struct Run {
  std::string fault{};  ///< empty if all is well
  std::size_t steps = 0;
};

enum class End { by_itself, lease_released, node_deleted };

[[nodiscard]] std::string data_of(World& world, const std::string& node) {
  return world.ensemble.operate(request::Get{node}).data;
}

[[nodiscard]] Change change(const Lease& lease, std::string identity) {
  Change outcome;
  lease.async_set_identity(std::move(identity), outcome.handler());
  return outcome;
}

/// "holder" changes its identity while "other" waits behind it. At the request `at` its lease ends
/// as `end` says.
class Publication {
 public:
  Publication(const Faults& faults, End end, std::size_t at)
      : end_{end}, at_{at}, plan_{std::make_shared<FaultsAt>("holder", faults)} {}

  Run run() {
    auto holder = world_.client("holder");
    auto other = world_.client("other");
    {
      InterProcessMutex mutex{*holder, path};
      InterProcessMutex others{*other, path};
      auto held = tests::run<Lease>(world_, [&](auto done) { mutex.async_acquire(done); });
      if (!held.arrived() || held.error()) return {"the holder does not get the lock"};
      lease_ = std::move(held.result());
      node_ = lease_.node();
      Outcome<Lease> waiting;
      others.async_acquire(waiting.handler());
      if (!world_.run_until([&] { return world_.ensemble.watches() == 2; })) {
        return {"the other does not wait"};
      }
      plan_->submitted = [this](std::size_t step) { on_step(step); };
      world_.ensemble.set_fault_plan(plan_);
      const Change changed = change(lease_, "another name");
      if (!world_.run_until_arrived(changed)) complain("it does not end");
      if (changed.arrived()) judge(changed.error());
      lease_.release();
      if (!world_.run_until_arrived(waiting)) return {"the lock is not handed on"};
      if (waiting.error()) {
        complain("the other does not get the lock: " + waiting.error().message());
      } else if (data_of(world_, waiting.result().node()) != "other") {
        complain("another one's node is written");
      }
      waiting.result().release();
      if (!world_.run_until_idle(*holder)) complain("operations or watches of the holder are left");
      if (!world_.run_until_idle(*other)) complain("operations or watches of the other are left");
      if (!world_.ensemble.children(path).empty()) complain("a node is left");
      if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
      plan_->submitted = nullptr;
    }
    if (!world_.end(holder) || !world_.end(other)) complain("something keeps a client alive");
    result_.steps = plan_->steps();
    return result_;
  }

 private:
  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }
  void on_step(std::size_t step) {
    if (end_ == End::by_itself || step != at_) return;
    came_ = true;
    if (end_ == End::node_deleted) return world_.remove(node_);
    lease_.release();
  }
  void judge(error_code error) {
    if (!error) {
      // The lease was released meanwhile, so its node may be gone.
      if (came_ || !world_.ensemble.exists(node_)) return;
      if (data_of(world_, node_) != "another name") complain("others do not see it");
      return;
    }
    if (error == Errc::lock_lost) {
      if (lease_.state() == LeaseState::held) complain("a lease that is held is called lost");
      return;
    }
    complain("it ends with " + error.message());
  }

  const End end_;
  const std::size_t at_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  Lease lease_;
  std::string node_;
  bool came_ = false;
  Run result_;
};

TEST_CASE("identity: a holder changes what others see of it, through every fault") {
  std::size_t cases = 0;
  for (const End end : {End::by_itself, End::lease_released, End::node_deleted}) {
    const Run plain = Publication{{}, end, 0}.run();
    REQUIRE(plain.fault == "");
    for (std::size_t end_at = 0; end_at < 3; ++end_at) {
      for (std::size_t at = 0; at < 3; ++at) {
        for (const Fault& fault : sampled(all_faults())) {
          const Run run = Publication{{{at, fault}}, end, end_at}.run();
          if (!run.fault.empty()) {
            FAIL_CHECK("end " << static_cast<int>(end) << " at " << end_at << ", request " << at
                              << ": " << describe(fault) << ": " << run.fault);
          }
          ++cases;
        }
      }
      if (end == End::by_itself) break;
    }
  }
  std::cout << "  " << cases << " cases: a change of identity, each fault at each request\n";
}

/// A holder, with which a test can change and look at its identity.
struct Holding {
  Holding() {
    auto held = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(held.arrived());
    REQUIRE_FALSE(held.error());
    lease = std::move(held.result());
  }
  void end() {
    lease.release();
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    CHECK(world.end(client));
  }
  [[nodiscard]] std::string shown() { return data_of(world, lease.node()); }

  World world;
  std::unique_ptr<Client> client = world.client("holder");
  std::optional<InterProcessMutex> mutex{std::in_place, *client, path};
  Lease lease;
};

TEST_CASE("identity: of several changes at once the last one stays, through every fault") {
  std::size_t cases = 0;
  for (std::size_t at = 0; at < 6; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      Holding holding;
      holding.world.ensemble.set_fault_plan(
          std::make_shared<FaultsAt>("holder", Faults{{at, fault}}));
      const Change first = change(holding.lease, "first");
      const Change second = change(holding.lease, "second");
      const Change third = change(holding.lease, "third");
      CHECK(holding.world.run_until_arrived(first));
      CHECK(holding.world.run_until_arrived(second));
      REQUIRE(holding.world.run_until_arrived(third));
      if (!third.error() && holding.world.ensemble.exists(holding.lease.node())) {
        INFO("request " << at << ": " << describe(fault));
        CHECK(holding.shown() == "third");
      }
      holding.end();
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: three changes of identity\n";
}

TEST_CASE("identity: a request to release the lock is not written over") {
  Holding holding;
  auto other = holding.world.client("other");
  const auto asked = run<bool>(
      holding.world, [&](auto done) { async_revoke(*other, holding.lease.node(), done); });
  REQUIRE(asked.arrived());
  const Change changed = change(holding.lease, "another name");
  REQUIRE(holding.world.run_until_arrived(changed));
  CHECK(changed.error() == ServerErrc::bad_version);
  CHECK(holding.shown() == revoke_message);
  int told = 0;
  const Subscription listening = holding.lease.make_revocable([&] { ++told; });
  CHECK(holding.world.run_until([&] { return told == 1; }));
  holding.end();
  CHECK(holding.world.end(other));
}

TEST_CASE("identity: one that comes between the read and the write is not written over either") {
  Holding holding;
  const auto plan = std::make_shared<FaultsAt>("holder");
  plan->submitted = [&](std::size_t step) {
    if (step != 1) return;
    holding.world.ensemble.operate(request::Set{holding.lease.node(), std::string{revoke_message}});
  };
  holding.world.ensemble.set_fault_plan(plan);
  const Change changed = change(holding.lease, "another name");
  REQUIRE(holding.world.run_until_arrived(changed));
  CHECK(changed.error() == ServerErrc::bad_version);
  CHECK(holding.shown() == revoke_message);
  plan->submitted = nullptr;
  holding.end();
}

TEST_CASE("identity: what cannot be said is refused at once, what is said already not written") {
  Holding holding;
  const auto set = [&](const Lease& lease, std::string identity) {
    try {
      const Change never = change(lease, std::move(identity));
    } catch (const Error& error) {
      return error.code();
    }
    return error_code{};
  };
  CHECK(set(holding.lease, std::string{revoke_message}) == Errc::invalid_argument);
  CHECK(set(holding.lease, std::string(2'000'000, 'x')) == Errc::invalid_argument);
  // The transaction contains the identity twice, so this one exceeds the limit of a request.
  CHECK(set(holding.lease, std::string(600'000, 'x')) == Errc::invalid_argument);
  CHECK(set(Lease{}, "nobody") == Errc::lock_lost);
  holding.world.ensemble.clear_history();
  const Change empty = change(holding.lease, "");
  REQUIRE(holding.world.run_until_arrived(empty));
  CHECK(holding.shown() == "holder");  // the client's default identity
  CHECK(holding.world.ensemble.history().size() == 1);
  holding.end();
}

TEST_CASE("identity: a caller who gives up is told so, and the next change goes on") {
  Holding holding;
  boost::asio::cancellation_signal signal;
  Change given_up;
  const auto plan = std::make_shared<FaultsAt>("holder");
  plan->submitted = [&](std::size_t step) {
    if (step == 0) signal.emit(boost::asio::cancellation_type::total);
  };
  holding.world.ensemble.set_fault_plan(plan);
  holding.lease.async_set_identity(
      "given up", boost::asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  const Change next = change(holding.lease, "next");
  REQUIRE(holding.world.run_until_arrived(given_up));
  CHECK(given_up.error() == boost::asio::error::operation_aborted);
  REQUIRE(holding.world.run_until_arrived(next));
  CHECK_FALSE(next.error());
  CHECK(holding.shown() == "next");
  plan->submitted = nullptr;
  holding.end();
}

TEST_CASE("identity: one whose caller has given up stands there again after a request") {
  Holding holding;
  boost::asio::cancellation_signal signal;
  Change given_up;
  holding.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("holder", Faults{{1, Fault{testing::FaultKind::fail_after}}}));
  holding.lease.async_set_identity(
      "given up", boost::asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  REQUIRE(holding.world.run_until([&] { return holding.shown() == "given up"; }));
  signal.emit(boost::asio::cancellation_type::total);
  REQUIRE(holding.world.run_until_arrived(given_up));
  CHECK(given_up.error());
  CHECK(holding.world.run_until([&] { return holding.world.ensemble.watches() == 1; }));
  const std::string node = holding.lease.node();
  holding.world.ensemble.operate(request::Set{node, std::string{revoke_message}});
  CHECK(holding.world.run_until([&] { return holding.shown() != revoke_message; }));
  CHECK(holding.shown() == "given up");
  holding.end();
}

TEST_CASE("identity: nothing is written after the lease was lost, though the node is there") {
  Holding holding;
  auto cautious = run<Lease>(holding.world, [&](auto done) {
    InterProcessMutex{*holding.client, "/cautious"}.async_acquire(
        {.lease = {.loss_policy = LossPolicy::on_suspended}}, done);
  });
  REQUIRE(cautious.arrived());
  const std::string node = cautious.result().node();
  // The connection fails at the read, which ends this lease. A new connection follows at once, and
  // the node still exists.
  const auto plan =
      std::make_shared<FaultsAt>("holder", Faults{{0, Fault{.kind = FaultKind::disconnect}}});
  holding.world.ensemble.set_fault_plan(plan);
  const Change changed = change(cautious.result(), "another name");
  REQUIRE(holding.world.run_until_arrived(changed));
  CHECK(changed.error() == Errc::lock_lost);
  CHECK(data_of(holding.world, node) == "holder");
  cautious.result().release();
  holding.end();
}

TEST_CASE("identity: a node that was seen under another one is not passed on in a batch") {
  World world;
  auto client = world.client("holder");
  {
    InterProcessMutex mutex{*client, path, {.hand_off = HandOff::cohort(8)}};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    Outcome<Lease> second;
    mutex.async_acquire(second.handler());
    world.settle();
    const std::string node = first.result().node();
    const Change changed = change(first.result(), "another name");
    REQUIRE(world.run_until_arrived(changed));
    CHECK_FALSE(changed.error());
    first.result().release();
    REQUIRE(world.run_until_arrived(second));
    REQUIRE_FALSE(second.error());
    CHECK(second.result().node() != node);
    CHECK(data_of(world, second.result().node()) == "holder");
    second.result().release();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

/// What an observer sees of a leader that changes its identity; the faults are the observer's.
Run observe(const Faults& faults) {
  Run result;
  const auto complain = [&](const std::string& what) {
    if (result.fault.empty()) result.fault = what;
  };
  World world;
  auto leaders = world.client("leaders");
  auto client = world.client("observed");
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  {
    LeaderLatch latch{*leaders, path};
    latch.start();
    if (!world.run_until([&] { return latch.has_leadership(); })) return {"nobody leads"};
    world.ensemble.set_fault_plan(plan);
    LeaderObserver observer{*client, path};
    const auto next = [&] {
      Outcome<std::optional<Participant>> outcome;
      observer.async_next(outcome.handler());
      return outcome;
    };
    const auto shows = [&](const auto& seen, const std::string& identity) {
      if (!world.run_until_arrived(seen)) return complain("it does not show " + identity);
      if (seen.error()) return complain("it ends with " + seen.error().message());
      if (!seen.result() || seen.result()->identity != identity) {
        return complain("it does not show " + identity + ", but something else");
      }
    };
    shows(next(), "leaders");
    for (const std::string identity : {"one", "two", "three"}) {
      const auto seen = next();
      const Lease leadership = latch.leadership();
      const Change changed = change(leadership, identity);
      if (!world.run_until_arrived(changed) || changed.error()) complain("no change");
      shows(seen, identity);
    }
    // The observer ignores a request to release, and does not report the old identity again.
    const auto nobody = next();
    const Lease leadership = latch.leadership();
    world.ensemble.operate(request::Set{leadership.node(), std::string{revoke_message}});
    if (!world.run_until([&] { return world.ensemble.watches() == 2; })) {
      complain("the leader's node is not watched by both");
    }
    world.settle();
    if (nobody.arrived()) complain("it shows a request to release");
    latch.close();
  }
  if (!world.end(client) || !world.end(leaders)) complain("something keeps a client alive");
  result.steps = plan->steps();
  return result;
}

TEST_CASE("identity: an observer shows each one that a leader takes, through every fault") {
  const Run plain = observe({});
  REQUIRE(plain.fault == "");
  std::size_t cases = 1;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const Run run = observe({{at, fault}});
      if (!run.fault.empty()) {
        FAIL_CHECK("request " << at << ": " << describe(fault) << ": " << run.fault);
      }
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: an observer of identities, each fault at each request\n";
}

}  // namespace
}  // namespace custodian::tests::set_identity_test
