// Recipes that run in the background, in a forked child: nothing is known, every call fails, and
// nothing is done.

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "custodian/atomics/cached_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/partition/set_partitioner.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "custodian/shared/shared_value.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/forked_child.hpp"
#include "support/catch.hpp"

namespace custodian::tests::forked_services_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("fork: a latch is closed in the child while the parent leads") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<LeaderLatch> latch{std::in_place, *client, "/latch"};
  std::optional<LeaderLatch> latent{std::in_place, *client, "/latent"};
  int calls = 0;
  const Subscription leads = latch->on_leadership([&](Leadership) { ++calls; });
  latch->start();
  REQUIRE(world.run_until([&] { return latch->has_leadership() && calls == 1; }));
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.expect(latch->state() == CandidateState::closed, "the latch is closed");
    report.expect(!latch->has_leadership(), "it does not lead");
    report.expect(latent->state() == CandidateState::closed, "one that is not started is, too");
    report.throws("start", [&] { return latent->start(); });
    report.throws("wait", [&] { return latch->wait(); });
    report.fails<Lease>("async_wait", [&](auto done) { latch->async_wait(done); });
    const Subscription more = latch->on_leadership([&](Leadership) { ++calls; });
    latch->close(LeaderLatch::CloseMode::notify_leader);
    world.settle();
    report.expect(calls == 1, "no listener is called");
    latch.reset();
    latent.reset();
  });
  CHECK(wrong == "");
  CHECK(latch->has_leadership());
  latch.reset();
  latent.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a selector does nothing in the child, whose parent goes on with its turn") {
  EndingWorld world;
  auto client = world.client("mine");
  bool is_stopped = false;
  LeaderSelectorOptions options;
  options.executor = world.context.get_executor();
  std::optional<LeaderSelector> selector;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const auto lead = [&](Lease, std::stop_token stop) -> boost::asio::awaitable<void> {
    boost::asio::steady_timer timer{world.context};
    while (!stop.stop_requested()) {
      timer.expires_after(1ms);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    is_stopped = true;
  };
  selector.emplace(*client, "/selector", lead, options);
  LeaderSelector latent{*client, "/latent", lead, options};
  selector->start();
  REQUIRE(world.run_until([&] { return selector->has_leadership(); }));
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.expect(!selector->has_leadership(), "it does not lead");
    report.expect(!selector->requeue(), "it cannot stand again");
    report.expect(!latent.requeue(), "nor can one that is not started");
    report.expect(!selector->interrupt_leadership(), "there is no turn to interrupt");
    report.throws("start", [&] { return latent.start(); });
    report.throws("join", [&] { return selector->join(); });
    report.fails<>("async_join", [&](auto done) { selector->async_join(done); });
    selector->close();
    selector.reset();
    world.settle();
    report.expect(!is_stopped, "the function is not stopped");
  });
  CHECK(wrong == "");
  CHECK(selector->has_leadership());
  CHECK(selector->interrupt_leadership());
  REQUIRE(world.run_until([&] { return is_stopped; }));
  selector.reset();
  latent.close();
  CHECK(world.run_until_idle(*client));
}

TEST_CASE("fork: a persistent node is closed in the child, and stays in the parent") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<PersistentNode> node{std::in_place, *client, "/node", "data"};
  REQUIRE_FALSE(run<>(world, [&](auto done) { node->async_wait_present(done); }).error());
  int calls = 0;
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.expect(node->state() == PersistentNodeState::closed, "the node is closed");
    report.expect(node->path().empty(), "it has no path");
    report.expect(node->data().empty(), "it has no data");
    report.throws("wait_present", [&] { return node->wait_present(); });
    report.throws("set_data", [&] { return node->set_data("new"); });
    report.throws("close", [&] { return node->close(); });
    report.fails<>("async_wait_present", [&](auto done) { node->async_wait_present(done); });
    report.fails<>("async_set_data", [&](auto done) { node->async_set_data("new", done); });
    report.fails<bool>("async_close", [&](auto done) { node->async_close(Deadline{1s}, done); });
    const Subscription states = node->on_state([&](auto...) { ++calls; });
    node.reset();
    world.settle();
    report.expect(calls == 0, "no listener is called");
  });
  CHECK(wrong == "");
  CHECK(node->state() == PersistentNodeState::present);
  CHECK(world.ensemble.exists("/node"));
  node.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a partitioner has neither shards nor members in the child") {
  EndingWorld world;
  auto client = world.client("mine");
  std::vector<OwnedShard> shards;
  std::optional<SetPartitioner> partitioner;
  partitioner.emplace(*client, "/set", std::vector<std::string>{"a", "b"}, "me",
                      [&](OwnedShard shard) { shards.push_back(std::move(shard)); });
  REQUIRE(world.run_until([&] { return partitioner->shards().size() == 2; }));
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.expect(partitioner->shards().empty(), "it has no shards");
    report.expect(partitioner->members().empty(), "it has no members");
    partitioner->close();
    partitioner.reset();
    world.settle();
    for (const OwnedShard& each : shards) {
      report.expect(!each.stop.stop_requested(), "no shard is asked for");
    }
    shards.clear();
  });
  CHECK(wrong == "");
  CHECK(partitioner->shards().size() == 2);
  CHECK(partitioner->members().size() == 1);
  partitioner.reset();
  shards.clear();
  CHECK(world.end(client));
}

TEST_CASE("fork: the numbers of a cache, and the values that are known, are the parent's") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<DistributedAtomicLong> counter{std::in_place, *client, "/counter"};
  std::optional<CachedAtomicLong> cache{std::in_place, *counter};
  REQUIRE_FALSE(
      run<std::int64_t>(world, [&](auto done) { cache->async_next(std::move(done)); }).error());
  world.make("/value", "data");
  std::optional<SharedValue> value{std::in_place, *client, "/value", ""};
  int calls = 0;
  Subscription changes = value->on_change([&](auto&&) { ++calls; });
  REQUIRE(world.run_until([&] { return value->last_known().has_value() && calls > 0; }));
  std::optional<TreeCache> mirror{std::in_place, *client, "/value"};
  REQUIRE(world.run_until([&] { return mirror->state() == MirrorState::synced; }));
  calls = 0;
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.throws("next", [&] { return cache->next(); });
    report.fails<std::int64_t>("async_next", [&](auto done) { cache->async_next(done); });
    report.fails<Versioned<std::int64_t>>("an atomic's async_load",
                                          [&](auto done) { counter->async_load(done); });
    report.expect(!value->last_known(), "no value is known");
    report.throws("on_change", [&] { return value->on_change([&](auto&&) { ++calls; }); });
    report.fails<Versioned<std::string>>("async_load", [&](auto done) { value->async_load(done); });
    report.expect(mirror->snapshot()->empty(), "the mirror is empty");
    report.expect(mirror->state() == MirrorState::closed, "the mirror is closed");
    report.throws("wait_synced", [&] { return mirror->wait_synced(); });
    report.throws("a mirror's on_change", [&] { return mirror->on_change([](auto&&) {}); });
    report.expect(calls == 0, "no listener is called");
    mirror.reset();
    changes = {};
    value.reset();
    cache.reset();
    counter.reset();
  });
  CHECK(wrong == "");
  CHECK_FALSE(
      run<std::int64_t>(world, [&](auto done) { cache->async_next(std::move(done)); }).error());
  CHECK(value->last_known().has_value());
  changes = {};
  mirror.reset();
  value.reset();
  cache.reset();
  counter.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a job does not run in the child") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<OncePerPeriod> nightly{std::in_place, *client, "/nightly",
                                       PeriodOptions{.every = 1h}};
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.throws("try_begin", [&] { return nightly->try_begin(); });
    nightly.reset();
  });
  CHECK(wrong == "");
  nightly.reset();
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::forked_services_test
