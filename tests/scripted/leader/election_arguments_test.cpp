// The arguments that elections and leases refuse, and the answers of an empty lease or group.

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace custodian::tests::election_arguments_test {
namespace {

constexpr auto path = "/election";

TEST_CASE("election arguments: a latch is started once, and again when it was closed") {
  World world;
  auto client = world.client("client");
  {
    LeaderLatch latch{*client, path};
    CHECK(latch.state() == LeaderLatch::State::latent);
    latch.start();
    CHECK(latch.state() == LeaderLatch::State::started);
    CHECK(error_of([&] { latch.start(); }) == Errc::invalid_argument);
    latch.close();
    CHECK(latch.state() == LeaderLatch::State::closed);
    latch.start();
    CHECK(latch.state() == LeaderLatch::State::started);
    CHECK(world.run_until([&] { return latch.has_leadership(); }));
    CHECK(error_of([&] { LeaderLatch{*client, "no path"}; }) == Errc::invalid_argument);

    LeaderLatch late{*client, path};
    client->async_close(Deadline{std::chrono::seconds{0}}, [](error_code, bool) {});
    world.settle();
    CHECK(error_of([&] { late.start(); }) == Errc::closed);
  }
  CHECK(world.end(client));
}

TEST_CASE("election arguments: a selector is started once, and stays closed") {
  World world;
  auto client = world.client("client");
  {
    LeaderSelectorOptions options;
    options.executor = world.context.get_executor();
    int turns = 0;
    LeaderSelector selector{*client, path, [&](const Lease&, std::stop_token) { ++turns; },
                            std::move(options)};
    CHECK(error_of([&] { selector.requeue(); }) == Errc::invalid_argument);
    CHECK_FALSE(selector.interrupt_leadership());
    selector.start();
    CHECK(error_of([&] { selector.start(); }) == Errc::invalid_argument);
    // The first turn is requested already.
    CHECK_FALSE(selector.requeue());
    CHECK(world.run_until([&] { return turns == 1; }));
    CHECK(selector.requeue());
    CHECK(world.run_until([&] { return turns == 2; }));
    CHECK_FALSE(selector.has_leadership());
    selector.close();
    CHECK_FALSE(selector.requeue());
    CHECK(error_of([&] { selector.start(); }) == Errc::closed);
    const auto joined = run<>(world, [&](auto done) { selector.async_join(done); });
    CHECK((joined.arrived() && !joined.error()));
  }
  CHECK(world.end(client));
}

TEST_CASE("election arguments: an observer has one waiter at a time") {
  World world;
  auto client = world.client("client");
  {
    CHECK(error_of([&] { LeaderObserver{*client, "no path"}; }) == Errc::invalid_argument);
    LeaderObserver observer{*client, path};
    using Leader = std::optional<Participant>;
    Outcome<Leader> first;
    observer.async_next(first.handler());
    const auto second = run<Leader>(world, [&](auto done) { observer.async_next(done); });
    CHECK(second.error() == Errc::invalid_argument);
    CHECK(world.run_until_arrived(first));
    CHECK_FALSE(first.error());
    CHECK_FALSE(first.result());
    // The waiter has its answer, so another one may wait.
    Outcome<Leader> third;
    observer.async_next(third.handler());
    CHECK(world.run_until([&] { return world.ensemble.watches() == 1; }));
    LeaderLatch latch{*client, path};
    latch.start();
    CHECK(world.run_until_arrived(third));
    CHECK_FALSE(third.error());
    CHECK(third.result()->identity == "client");
  }
  CHECK(world.end(client));
}

// -- Leases ---------------------------------------------------------------------------------------

TEST_CASE("election arguments: an empty lease says so, and takes no request") {
  const Lease empty;
  const auto none = [](error_code, auto...) { FAIL("the operation has begun"); };
  CHECK(empty.state() == LeaseState::released);
  CHECK(empty.loss_reason() == LossReason::none);
  CHECK(empty.remaining() == std::chrono::nanoseconds{0});
  CHECK(empty.hold_count() == 0);
  CHECK(empty.node().empty());
  CHECK(empty.core() == nullptr);
  CHECK(empty.share().state() == LeaseState::released);
  CHECK_FALSE(empty.lost().stop_possible());
  CHECK(error_of([&] { static_cast<void>(empty.check()); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.assert_held(); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.set_identity("name"); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.async_assert_held(none); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.async_set_identity("name", none); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.async_wait_lost(none); }) == Errc::lock_lost);
  CHECK(error_of([&] { empty.async_wait_state(LeaseState::held, none); }) == Errc::lock_lost);

  const LeaseGroup nothing;
  CHECK(nothing.state() == LeaseState::released);
  CHECK(nothing.remaining() == std::chrono::nanoseconds{0});
  CHECK(nothing.share().state() == LeaseState::released);
  CHECK_FALSE(nothing.lost().stop_possible());
  CHECK(error_of([&] { nothing.async_wait_lost(none); }) == Errc::lock_lost);
}

TEST_CASE("election arguments: a lease is assigned to itself, and to another one") {
  World world;
  auto client = world.client("client");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    auto first = run<Lease>(world, [&](auto done) { a.async_acquire(done); });
    auto second = run<Lease>(world, [&](auto done) { b.async_acquire(done); });
    Lease lease = std::move(first.result());
    Lease& same = lease;
    lease = std::move(same);
    CHECK(lease.state() == LeaseState::held);
    CHECK(lease.hold_count() == 1);
    lease = std::move(second.result());
    CHECK(world.run_until([&] { return world.ensemble.children("/a").empty(); }));
    CHECK(lease.node().starts_with("/b/"));
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::election_arguments_test
