// A group of leases of which a majority suffices, and the notices when it is lost.

#include "custodian/lock_sets/lease_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "custodian/lock_sets/quorum_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::lease_group_test {
namespace {

/// A group of three mutexes' leases, of which two are needed.
struct TwoOfThree {
  TwoOfThree() {
    std::vector<Lease> leases;
    for (const std::string path : {"/a", "/b", "/c"}) {
      InterProcessMutex mutex{*client, path};
      auto outcome = run<Lease>(world, [&](auto done) { mutex.async_acquire(std::move(done)); });
      REQUIRE(outcome.arrived());
      REQUIRE_FALSE(outcome.error());
      leases.push_back(std::move(outcome.result()));
    }
    group = LeaseGroup{*client, std::move(leases), 2};
  }
  /// Deletes the node of one lease, as an operator would.
  void remove(std::size_t index) { world.remove(group.leases()[index].node()); }
  void end() {
    group.release();
    CHECK(world.run_until_idle(*client));
    for (const std::string path : {"/a", "/b", "/c"}) CHECK(world.ensemble.children(path).empty());
    CHECK(world.end(client));
  }

  World world;
  std::unique_ptr<Client> client = world.client("client");
  LeaseGroup group;
};

TEST_CASE("a group is held without one it can spare, and told of the next loss", "[multi]") {
  TwoOfThree two;
  Outcome<> lost;
  two.group.async_wait_lost(lost.handler());
  bool told = false;
  const std::stop_callback on_lost{two.group.lost(), [&] { told = true; }};
  // A lease that never waited has no watch on its node, so assert_held() finds the loss.
  const auto look = [&](std::size_t index) {
    two.remove(index);
    const auto asked = run<>(two.world, [&](auto done) {
      two.group.leases()[index].async_assert_held(std::move(done));
    });
    REQUIRE(asked.arrived());
    CHECK(asked.error() == Errc::lock_lost);
    two.world.settle();
  };
  look(1);
  CHECK(two.group.state() == LeaseState::held);
  CHECK(two.group.remaining() > std::chrono::seconds{0});
  CHECK_FALSE(told);
  CHECK_FALSE(lost.arrived());
  look(0);
  CHECK(two.world.run_until([&] { return told && lost.arrived(); }));
  CHECK_FALSE(lost.error());
  CHECK(two.group.state() == LeaseState::lost);
  CHECK(two.group.remaining() == std::chrono::seconds{0});
  CHECK(two.group);
  // A wait that begins after the loss ends at once.
  const auto late =
      run<>(two.world, [&](auto done) { two.group.async_wait_lost(std::move(done)); });
  CHECK(late.arrived());
  CHECK_FALSE(late.error());
  two.end();
}

TEST_CASE("a group of no lease, or with fewer leases than it needs, is refused", "[multi]") {
  TwoOfThree two;
  const auto refused = [&](std::size_t count, std::size_t needed) {
    std::vector<Lease> leases;
    for (std::size_t i = 0; i < count; ++i) leases.push_back(two.group.leases()[i].share());
    try {
      const LeaseGroup group{*two.client, std::move(leases), needed};
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  CHECK(refused(0, 0));
  CHECK(refused(0, 1));
  CHECK(refused(2, 0));
  CHECK(refused(2, 3));
  CHECK_FALSE(refused(2, 2));
  CHECK_FALSE(refused(3, 2));
  // The refused groups have not affected the leases that they shared.
  CHECK(two.group.state() == LeaseState::held);
  two.end();
}

TEST_CASE("a lease that is lost while the last of three ensembles is tried does not count",
          "[quorum]") {
  World world;
  testing::FakeEnsemble second{{.reconnect_pause = std::chrono::milliseconds{0}}};
  testing::FakeEnsemble third{{.reconnect_pause = std::chrono::milliseconds{0}}};
  const auto client_of = [&](testing::FakeEnsemble& ensemble, const std::string& name) {
    ClientOptions options = world.options(name);
    options.session_factory = ensemble.session_factory(name);
    return world.client(options);
  };
  auto a = world.client("a");
  auto b = client_of(second, "b");
  auto c = client_of(third, "c");
  auto other = client_of(third, "other");
  {
    // The third ensemble, where another client holds the lock, answers only after the loss is
    // known.
    InterProcessMutex others{*other, "/q"};
    const auto held = run<Lease>(world, [&](auto done) { others.async_acquire(done); });
    REQUIRE(held.arrived());
    const Faults delay{{0, {.kind = FaultKind::delay, .turns = 0}}};
    const auto plan = std::make_shared<FaultsAt>("c", delay);
    third.set_fault_plan(plan);
    QuorumLock lock{{*a, *b, *c}, "/q", {.max_unreachable = std::chrono::hours{1}}};
    int requeued = 0;
    AcquireOptions options;
    options.on_requeued = [&] { ++requeued; };
    Outcome<LeaseGroup> outcome;
    lock.async_acquire(options, outcome.handler());
    REQUIRE(world.run_until([&] { return plan->steps() > 0; }));
    const std::int64_t session = a->session().id;
    world.ensemble.expire(session);
    REQUIRE(world.run_until([&] { return a->session().id != session; }));
    CHECK_FALSE(outcome.arrived());
    third.release_replies();
    REQUIRE(world.run_until_arrived(outcome));
    CHECK_FALSE(outcome.error());
    CHECK(outcome.result().state() == LeaseState::held);
    CHECK(outcome.result().leases().size() == 2);
    CHECK(requeued == 1);
    outcome.result().release();
    for (const auto* client : {&a, &b, &c}) CHECK(world.run_until_idle(**client));
  }
  for (auto* client : {&a, &b, &c, &other}) CHECK(world.end(*client));
}

TEST_CASE("whoever is told of the loss may release the group on the spot", "[multi]") {
  TwoOfThree two;
  int told = 0;
  {
    const std::stop_callback on_lost{two.group.lost(), [&] {
                                       ++told;
                                       two.group.release();
                                     }};
    two.world.ensemble.expire(two.client->session().id);
    CHECK(two.world.run_until([&] { return told > 0; }));
    two.world.settle();
  }
  CHECK(told == 1);
  CHECK_FALSE(two.group);
  two.end();
}

TEST_CASE("nobody is told of the loss of a group that was released, and waits end", "[multi]") {
  TwoOfThree two;
  Outcome<> wait;
  two.group.async_wait_lost(wait.handler());
  const std::stop_token lost = two.group.lost();
  two.group.release();
  two.world.ensemble.expire(two.client->session().id);
  CHECK(two.world.run_until_arrived(wait));
  CHECK(wait.error() == boost::asio::error::operation_aborted);
  two.world.settle();
  CHECK_FALSE(lost.stop_requested());
  CHECK_FALSE(two.group.lost().stop_possible());
  CHECK_THROWS_AS(two.group.async_wait_lost([](error_code) {}), Error);
  two.end();
}

TEST_CASE("a wait for a group's loss is cancelled like any other", "[multi]") {
  TwoOfThree two;
  boost::asio::cancellation_signal signal;
  Outcome<> wait;
  two.group.async_wait_lost(boost::asio::bind_cancellation_slot(signal.slot(), wait.handler()));
  two.world.settle();
  CHECK_FALSE(wait.arrived());
  signal.emit(boost::asio::cancellation_type::all);
  CHECK(two.world.run_until_arrived(wait));
  CHECK(wait.error() == boost::asio::error::operation_aborted);
  two.end();
}

TEST_CASE("a shared group keeps the locks until the last is released", "[multi]") {
  TwoOfThree two;
  LeaseGroup another = two.group.share();
  CHECK(another.needed() == 2);
  two.group = LeaseGroup{};
  CHECK(another.state() == LeaseState::held);
  CHECK(two.world.run_until_idle(*two.client));
  CHECK(two.world.ensemble.exists(another.leases()[0].node()));
  two.world.ensemble.expire(two.client->session().id);
  CHECK(two.world.run_until([&] { return another.lost().stop_requested(); }));
  LeaseGroup moved = std::move(another);
  CHECK(moved.state() == LeaseState::lost);
  CHECK_FALSE(another);  // NOLINT(bugprone-use-after-move): moved-from on purpose
  CHECK(another.needed() == 0);
  moved.release();
  two.end();
}

}  // namespace
}  // namespace custodian::tests::lease_group_test
