// What an acquire tells its caller of the contenders ahead of it, and what it reads for that.

#include <algorithm>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/lock_sets/lease_group.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/moments.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::contenders_ahead_test {
namespace {

using Position = std::pair<std::size_t, std::string>;

/// Two clients that contend.
struct Two {
  World world;
  std::unique_ptr<Client> mine = world.client("mine");
  std::unique_ptr<Client> other = world.client("other");
  std::vector<Position> positions;
  AcquireOptions told;

  Two() {
    told.on_position = [this](std::size_t ahead, const Participant& nearest) {
      positions.emplace_back(ahead, nearest.identity);
    };
  }
  ~Two() {
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }
  Two(const Two&) = delete;
  Two& operator=(const Two&) = delete;

  Lease acquired(const Client& client, const std::string& path = "/lock") {
    auto outcome = run<Lease>(world, [&](auto done) {
      InterProcessMutex{client, path}.async_acquire(done);
    });
    REQUIRE((outcome.arrived() && !outcome.error()));
    return std::move(outcome.result());
  }
  void wait_for_positions(std::size_t count) {
    REQUIRE(world.run_until([&] { return positions.size() >= count; }));
  }
};

TEST_CASE("contenders ahead: a try lists its queue without a watch") {
  Two two;
  {
    Lease first = two.acquired(*two.other);
    std::size_t watches = 1;
    const auto plan = std::make_shared<Moments>("mine");
    plan->behind({"children"},
                 [&] { watches = two.world.ensemble.watches(two.mine->session().id); });
    two.world.ensemble.set_fault_plan(plan);
    InterProcessMutex mutex{*two.mine, "/lock"};
    const auto tried =
        run<AcquireResult>(two.world, [&](auto done) { mutex.async_try_acquire(done); });
    two.world.ensemble.set_fault_plan(nullptr);
    REQUIRE(tried.arrived());
    CHECK_FALSE(tried.result());
    CHECK(plan->have_come());
    CHECK(watches == 0);
  }
}

TEST_CASE("contenders ahead: a waiter hears their number, and the nearest one") {
  Two two;
  {
    Lease first = two.acquired(*two.other);
    InterProcessMutex second{*two.other, "/lock"};
    Outcome<Lease> waiting;
    second.async_acquire(waiting.handler());
    REQUIRE(two.world.run_until([&] { return two.world.ensemble.children("/lock").size() == 2; }));
    InterProcessMutex mutex{*two.mine, "/lock"};
    Outcome<Lease> last;
    mutex.async_acquire(two.told, last.handler());
    two.wait_for_positions(1);
    CHECK(two.positions.back() == Position{2, "other"});
    first.release();
    REQUIRE(two.world.run_until_arrived(waiting));
    waiting.result().release();
    REQUIRE(two.world.run_until_arrived(last));
    CHECK_FALSE(last.error());
    CHECK(two.positions.size() == 1);
  }
}

TEST_CASE("contenders ahead: a waiter hears that the one in front is its own client's") {
  Two two;
  {
    Lease first = two.acquired(*two.mine);
    InterProcessMutex mutex{*two.mine, "/lock"};
    const auto tried =
        run<AcquireResult>(two.world, [&](auto done) { mutex.async_try_acquire(done); });
    REQUIRE(tried.arrived());
    CHECK(tried.result().reason == NotAcquired::blocked);
    REQUIRE(tried.result().blocked_by);
    CHECK(tried.result().blocked_by->own);
    CHECK(tried.result().blocked_by->node == first.node());
    CHECK(tried.result().blocked_by->identity == "mine");
    CHECK(tried.result().blocked_by->token == first.token());

    Outcome<Lease> waiting;
    mutex.async_acquire(two.told, waiting.handler());
    two.wait_for_positions(1);
    CHECK(two.positions.back() == Position{1, "mine"});
    first.release();
    REQUIRE(two.world.run_until_arrived(waiting));
  }
}

TEST_CASE("contenders ahead: a reader counts the writers only, and a writer everybody") {
  Two two;
  {
    InterProcessReadWriteLock theirs{*two.other, "/lock"};
    auto writing = run<Lease>(two.world, [&](auto done) { theirs.write().async_acquire(done); });
    Outcome<Lease> their_reader;
    theirs.read().async_acquire(their_reader.handler());
    REQUIRE(two.world.run_until([&] { return two.world.ensemble.children("/lock").size() == 2; }));
    InterProcessReadWriteLock lock{*two.mine, "/lock"};
    Outcome<Lease> reader;
    lock.read().async_acquire(two.told, reader.handler());
    two.wait_for_positions(1);
    CHECK(two.positions.back().first == 1);
    InterProcessReadWriteLock same{*two.mine, "/lock"};
    Outcome<Lease> writer;
    same.write().async_acquire(two.told, writer.handler());
    two.wait_for_positions(2);
    CHECK(two.positions.back().first == 3);
    writing.result().release();
    REQUIRE(two.world.run_until_arrived(their_reader));
    REQUIRE(two.world.run_until_arrived(reader));
    their_reader.result().release();
    reader.result().release();
    REQUIRE(two.world.run_until_arrived(writer));
  }
}

TEST_CASE("contenders ahead: the participants are listed in order, each with what it is") {
  Two two;
  {
    Lease first = two.acquired(*two.other);
    InterProcessMutex mutex{*two.mine, "/lock"};
    Outcome<Lease> waiting;
    mutex.async_acquire(waiting.handler());
    REQUIRE(two.world.run_until([&] { return two.world.ensemble.children("/lock").size() == 2; }));
    const auto all = run<std::vector<Participant>>(
        two.world, [&](auto done) { mutex.async_participants({}, done); });
    REQUIRE(all.arrived());
    REQUIRE(all.result().size() == 2);
    const auto& [theirs, own] = std::tie(all.result()[0], all.result()[1]);
    CHECK(theirs.node == first.node());
    CHECK(theirs.token.value == first.token().value);
    CHECK(theirs.session == two.other->session().id);
    CHECK_FALSE(theirs.own);
    CHECK(own.own);
    CHECK_FALSE(own.idle);
    first.release();
    REQUIRE(two.world.run_until_arrived(waiting));
  }
}

TEST_CASE("contenders ahead: a try of any stripe names a holder") {
  Two two;
  {
    const Lease first = two.acquired(*two.other, "/stripes/0");
    StripedMutex striped{*two.mine, "/stripes", 1};
    const auto tried =
        run<StripeLease>(two.world, [&](auto done) { striped.async_try_acquire_any(done); });
    REQUIRE(tried.arrived());
    CHECK(tried.result().reason == NotAcquired::blocked);
    REQUIRE(tried.result().blocked_by);
    CHECK(tried.result().blocked_by->identity == "other");
  }
}

TEST_CASE("contenders ahead: a permit's holder is read once, however often the waiter is woken") {
  Two two;
  {
    InterProcessSemaphore theirs{*two.other, "/s", 1};
    auto first =
        run<std::vector<Lease>>(two.world, [&](auto done) { theirs.async_acquire(1, done); });
    InterProcessSemaphore semaphore{*two.mine, "/s", 1};
    Outcome<std::vector<Lease>> waiting;
    semaphore.async_acquire(1, two.told, waiting.handler());
    two.wait_for_positions(1);
    CHECK(two.positions.back() == Position{1, "other"});
    two.world.settle();
    two.world.ensemble.clear_history();
    // A child that is no permit wakes the waiter, which has to wait again.
    two.world.make("/s/leases/foreign");
    two.wait_for_positions(2);
    CHECK(two.positions.back() == Position{1, "other"});
    CHECK(std::ranges::none_of(two.world.ensemble.history(),
                               [](const Submission& each) { return each.kind == "get"; }));
    first.result().clear();
    REQUIRE(two.world.run_until_arrived(waiting));
    CHECK_FALSE(waiting.error());
  }
}

// -- Groups ---------------------------------------------------------------------------------------

TEST_CASE("contenders ahead: a group that is moved or assigned releases what it had") {
  Two two;
  {
    const auto group_of = [&](const std::string& path) {
      std::vector<Lease> leases;
      leases.push_back(two.acquired(*two.mine, path));
      return LeaseGroup{*two.mine, std::move(leases), 1};
    };
    LeaseGroup group = group_of("/a");
    const LeaseGroup shared = group.share();
    CHECK(shared.state() == LeaseState::held);
    LeaseGroup& same = group;
    group = std::move(same);
    CHECK(group.state() == LeaseState::held);
    LeaseGroup moved = std::move(group);
    CHECK(moved.state() == LeaseState::held);
    CHECK(moved.share().state() == LeaseState::held);
    moved = group_of("/b");
    CHECK(moved.leases().front().node().starts_with("/b/"));
    // The shared lease keeps the first lock.
    CHECK(shared.leases().front().hold_count() == 1);
    Outcome<> lost;
    moved.async_wait_lost(lost.handler());
    two.world.settle();
    CHECK_FALSE(lost.arrived());
    moved.release();
    REQUIRE(two.world.run_until_arrived(lost));
    CHECK(lost.error() == boost::asio::error::operation_aborted);
    CHECK(two.world.run_until([&] { return two.world.ensemble.children("/b").empty(); }));
    CHECK(two.world.ensemble.children("/a").size() == 1);
  }
}

}  // namespace
}  // namespace custodian::tests::contenders_ahead_test
