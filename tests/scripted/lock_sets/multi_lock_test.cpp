// A multi lock step by step, and when one of its locks fails.

#include <algorithm>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::multi_lock_test {
namespace {

using namespace std::chrono_literals;

/// The parents of the nodes whose deletion was requested, in that order.
std::vector<std::string> removals(const World& world) {
  std::vector<std::string> parents;
  for (const Submission& each : world.ensemble.history()) {
    if (each.kind != "remove") continue;
    parents.push_back(each.path.substr(0, each.path.rfind('/')));
  }
  return parents;
}

/// An acquire that waits and reports its position.
struct Waiting {
  explicit Waiting(World& world) : world_{world} {
    options.on_position = [told = told_](auto&&...) { *told = true; };
  }
  void until_it_waits() {
    REQUIRE(world_.run_until([told = told_] { return *told; }));
  }

  AcquireOptions options;
  Outcome<LeaseGroup> outcome;

 private:
  World& world_;
  std::shared_ptr<bool> told_ = std::make_shared<bool>(false);
};

template <typename Lock>
auto acquired(World& world, Lock& lock) {
  return run<LeaseGroup>(world, [&](auto done) { lock.async_acquire(std::move(done)); });
}

Lease held(World& world, InterProcessMutex& mutex) {
  auto outcome = run<Lease>(world, [&](auto done) { mutex.async_acquire(std::move(done)); });
  REQUIRE(outcome.arrived());
  REQUIRE_FALSE(outcome.error());
  return std::move(outcome.result());
}

TEST_CASE("a multi lock of all kinds, of two clients: had in order, released in reverse",
          "[multi]") {
  World world;
  auto first = world.client("first");
  auto second = world.client("second");
  {
    InterProcessMutex a{*first, "/a"};
    InterProcessReadWriteLock b{*second, "/b"};
    InterProcessReadWriteLock c{*first, "/c"};
    InterProcessSemaphoreMutex d{*second, "/d"};
    InterProcessSemaphore e{*first, "/e", 3};
    InterProcessMultiLock all{{a, b.read(), c.write(), d, {e, 2}}};
    CHECK(all.paths() == std::vector<std::string>{"/a", "/b", "/c", "/d", "/e"});
    auto outcome = acquired(world, all);
    REQUIRE(outcome.arrived());
    REQUIRE_FALSE(outcome.error());
    LeaseGroup leases = std::move(outcome.result());
    REQUIRE(leases.leases().size() == 6);
    const auto token = [&](std::size_t index) { return leases.leases()[index].token(); };
    for (std::size_t i = 1; i < 4; ++i) CHECK(token(i) > token(i - 1));
    CHECK(leases.state() == LeaseState::held);
    CHECK(leases.remaining() > 0s);
    world.settle();
    world.ensemble.clear_history();
    leases.release();
    CHECK_FALSE(leases);
    CHECK(leases.needed() == 0);
    CHECK(leases.state() == LeaseState::released);
    CHECK(world.run_until_idle(*first));
    CHECK(world.run_until_idle(*second));
    // The removals of one client at a time are compared, since two clients' connections have no
    // common order.
    const auto of = [&](const std::vector<std::string>& paths) {
      auto all_removed = removals(world);
      std::erase_if(all_removed, [&](const std::string& path) {
        return std::ranges::find(paths, path) == paths.end();
      });
      return all_removed;
    };
    CHECK(of({"/a", "/c", "/e/leases"}) ==
          std::vector<std::string>{"/e/leases", "/e/leases", "/c", "/a"});
    CHECK(of({"/b", "/d/leases"}) == std::vector<std::string>{"/d/leases", "/b"});
  }
  CHECK(world.end(first));
  CHECK(world.end(second));
}

TEST_CASE(
    "one lock of several fails: those that were had are undone, the last first, and it is "
    "told which",
    "[multi]") {
  World world;
  auto client = world.client("client");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMutex c{*client, "/c"};
    InterProcessMultiLock all{{a, b, c}};
    world.make("/c");
    world.ensemble.refuse("/c");
    auto outcome = run<GroupAcquireResult>(
        world, [&](auto done) { all.async_try_acquire_for(1h, std::move(done)); });
    REQUIRE(outcome.arrived());
    CHECK(outcome.error() == ServerErrc::no_auth);
    CHECK(outcome.result().path == "/c");
    CHECK_FALSE(outcome.result());
    CHECK(world.run_until_idle(*client));
    CHECK(removals(world) == std::vector<std::string>{"/b", "/a"});
    CHECK(world.ensemble.children("/a").empty());
    CHECK(world.ensemble.children("/b").empty());
  }
  CHECK(world.end(client));
}

TEST_CASE("a multi lock that comes too late tells which lock was somebody's, and whose",
          "[multi]") {
  World world;
  auto client = world.client("client");
  auto other = world.client("other");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMutex others{*other, "/b"};
    InterProcessMultiLock all{{a, b}};
    Lease in_the_way = held(world, others);
    auto late = run<GroupAcquireResult>(
        world, [&](auto done) { all.async_try_acquire_for(200ms, std::move(done)); });
    REQUIRE(late.arrived());
    CHECK_FALSE(late.error());
    CHECK_FALSE(late.result());
    // On a busy machine the limit may pass before the acquire is in the queue.
    if (late.result().reason == NotAcquired::blocked) {
      CHECK(late.result().path == "/b");
      REQUIRE(late.result().blocked_by);
      CHECK(late.result().blocked_by->node == in_the_way.node());
    }
    auto tried =
        run<GroupAcquireResult>(world, [&](auto done) { all.async_try_acquire(std::move(done)); });
    REQUIRE(tried.arrived());
    CHECK_FALSE(tried.error());
    CHECK(tried.result().path == "/b");
    in_the_way.release();
    tried =
        run<GroupAcquireResult>(world, [&](auto done) { all.async_try_acquire(std::move(done)); });
    REQUIRE(tried.arrived());
    CHECK(tried.result());
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("a session lost with what was had begins again, and tells so; or fails, as told",
          "[multi]") {
  World world;
  auto first = world.client("first");
  auto second = world.client("second");
  auto other = world.client("other");
  {
    InterProcessMutex a{*first, "/a"};
    InterProcessMutex b{*second, "/b"};
    InterProcessMutex others{*other, "/b"};
    InterProcessMultiLock both{{a, b}};
    for (const RequeuePolicy policy : {RequeuePolicy::queue_again, RequeuePolicy::fail}) {
      Lease in_the_way = held(world, others);
      Waiting waiting{world};
      int requeued = 0;
      waiting.options.requeue = policy;
      waiting.options.on_requeued = [&] { ++requeued; };
      both.async_acquire(waiting.options, waiting.outcome.handler());
      waiting.until_it_waits();
      // The acquire waits for the second client's lock when the first client's is lost.
      world.ensemble.expire(first->session().id);
      if (policy == RequeuePolicy::fail) {
        REQUIRE(world.run_until_arrived(waiting.outcome));
        CHECK(waiting.outcome.error() == Errc::session_lost);
        CHECK(requeued == 0);
        continue;
      }
      REQUIRE(world.run_until([&] { return requeued == 1; }));
      CHECK_FALSE(waiting.outcome.arrived());
      in_the_way.release();
      REQUIRE(world.run_until_arrived(waiting.outcome));
      CHECK_FALSE(waiting.outcome.error());
      CHECK(waiting.outcome.result().state() == LeaseState::held);
    }
    CHECK(world.run_until_idle(*first));
    CHECK(world.run_until_idle(*second));
  }
  CHECK(world.end(first));
  CHECK(world.end(second));
  CHECK(world.end(other));
}

TEST_CASE("one session lost with what was had and the place in the queue is told once", "[multi]") {
  World world;
  auto client = world.client("client");
  auto other = world.client("other");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMutex others{*other, "/b"};
    InterProcessMultiLock both{{a, b}};
    Lease in_the_way = held(world, others);
    Waiting waiting{world};
    int requeued = 0;
    int waits_again = 0;
    waiting.options.on_requeued = [&] { ++requeued; };
    both.async_acquire(waiting.options, waiting.outcome.handler());
    waiting.until_it_waits();
    const std::int64_t before = client->session().id;
    world.ensemble.expire(before);
    REQUIRE(world.run_until([&] {
      waits_again = static_cast<int>(world.ensemble.children("/b").size());
      return client->session().id != before && waits_again == 2;
    }));
    // The waiter has nodes of its new session: it holds the first lock, and waits for the second.
    CHECK(world.ensemble.children("/a").size() == 1);
    in_the_way.release();
    REQUIRE(world.run_until_arrived(waiting.outcome));
    CHECK_FALSE(waiting.outcome.error());
    CHECK(waiting.outcome.result().state() == LeaseState::held);
    world.settle();
    CHECK(requeued == 1);
    waiting.outcome.result().release();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("whenever a lease is lost, all locks are handed out or none", "[multi]") {
  World world;
  auto client = world.client("client");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMultiLock both{{a, b}};
    // In each round the maximum time ends a little later: before, between or after the last steps.
    for (int round = 1; round <= 200; ++round) {
      Waiting waiting{world};
      waiting.options.lease.hold_at_most = std::chrono::microseconds{round * 5};
      both.async_acquire(waiting.options, waiting.outcome.handler());
      REQUIRE(world.run_until_arrived(waiting.outcome));
      LeaseGroup& leases = waiting.outcome.result();
      CHECK(waiting.outcome.error() == (leases ? error_code{} : Errc::lock_lost));
      if (leases) CHECK((leases.leases().size() == 2 && leases.needed() == 2));
      leases.release();
      REQUIRE(world.run_until_idle(*client));
      CHECK(world.ensemble.children("/a").empty());
      CHECK(world.ensemble.children("/b").empty());
    }
  }
  CHECK(world.end(client));
}

TEST_CASE("a node that an operator deletes ends the acquire of the locks behind it", "[multi]") {
  World world;
  auto client = world.client("client");
  auto other = world.client("other");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMutex others_a{*other, "/a"};
    InterProcessMutex others_b{*other, "/b"};
    InterProcessMultiLock both{{a, b}};
    Lease first = held(world, others_a);
    const Lease second = held(world, others_b);
    Waiting waiting{world};
    both.async_acquire(waiting.options, waiting.outcome.handler());
    waiting.until_it_waits();
    // A holder that had to wait is notified at once if its node goes.
    first.release();
    REQUIRE(world.run_until([&] { return world.ensemble.children("/b").size() == 2; }));
    for (const std::string& name : world.ensemble.children("/a")) world.remove("/a/" + name);
    REQUIRE(world.run_until_arrived(waiting.outcome));
    CHECK(waiting.outcome.error() == Errc::node_deleted);
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/b").size() == 1);
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("a lock whose maximum time is up before the next is had ends the acquire", "[multi]") {
  World world;
  auto client = world.client("client");
  auto other = world.client("other");
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMutex others{*other, "/b"};
    InterProcessMultiLock both{{a, b}};
    const Lease in_the_way = held(world, others);
    Waiting waiting{world};
    waiting.options.lease.hold_at_most = 20ms;
    both.async_acquire(waiting.options, waiting.outcome.handler());
    REQUIRE(world.run_until_arrived(waiting.outcome));
    CHECK(waiting.outcome.error() == Errc::lock_lost);
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/a").empty());
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("closing any of its clients ends an acquire that waits, or will need it", "[multi]") {
  for (const bool the_first : {true, false}) {
    World world;
    auto first = world.client("first");
    auto second = world.client("second");
    auto other = world.client("other");
    {
      InterProcessMutex a{*first, "/a"};
      InterProcessMutex b{*second, "/b"};
      InterProcessMutex others{*other, "/b"};
      InterProcessMultiLock both{{a, b}};
      const Lease in_the_way = held(world, others);
      Waiting waiting{world};
      both.async_acquire(waiting.options, waiting.outcome.handler());
      waiting.until_it_waits();
      (the_first ? first : second)->async_close(1h, [](error_code, bool) {});
      REQUIRE(world.run_until_arrived(waiting.outcome));
      CHECK(waiting.outcome.error() == Errc::closed);
      CHECK(world.run_until([&] { return world.ensemble.children("/a").empty(); }));
      CHECK(world.run_until([&] { return world.ensemble.children("/b").size() == 1; }));
    }
    CHECK(world.end(first));
    CHECK(world.end(second));
    CHECK(world.end(other));
  }
}

TEST_CASE("no lock at all, one twice, and permits that can never be had are refused", "[multi]") {
  World world;
  auto client = world.client("client");
  const auto refused = [](auto function) {
    try {
      function();
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex again{*client, "/a"};
    InterProcessReadWriteLock both{*client, "/b"};
    InterProcessSemaphore permits{*client, "/c", 2};
    CHECK(refused([] { InterProcessMultiLock{std::vector<AnyLock>{}}; }));
    CHECK(refused([&] { InterProcessMultiLock{{a, again}}; }));
    CHECK(refused([&] { InterProcessMultiLock{{both.read(), both.write()}}; }));
    CHECK(refused([&] { InterProcessMultiLock{{a, {permits, 3}}}; }));
    CHECK_FALSE(refused([&] { InterProcessMultiLock{{a, both.read(), permits}}; }));
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::multi_lock_test
