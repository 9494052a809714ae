// Acquires of a lock whose path moves: the order of the homes, their tokens, and how they end.

#include "custodian/ensembles/moving_mutex.hpp"
#include "scripted/ensembles/moving_mutex_process.hpp"

namespace custodian::tests::moving_acquire_test {
namespace {

using namespace std::chrono_literals;
using namespace moving_world;
using namespace moving_mutex_process;

TEST_CASE("moving mutex: an acquire takes the old home, then the new one", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 4, 1);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 4; }));
  make_contender(ensembles, 1);
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  CHECK(nodes_at(ensembles, 0) == 1);
  wait_a_little(ensembles);
  CHECK_FALSE(lease.arrived());
  remove_contender(ensembles, 1);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.result().homes() == Homes{"east", "west"});
  lease.result().release();
  CHECK(mine.end(ensembles));
  CHECK(nodes_at(ensembles, 0) + nodes_at(ensembles, 1) == 0);
}

TEST_CASE("moving mutex: the token follows the new home when its own copy is turned",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 4, 1);
  std::vector<FencingToken> tokens;
  const auto cycle = [&] {
    MovingLease lease = acquire(ensembles, mine);
    tokens.push_back(lease.token());
    lease.release();
  };
  cycle();
  CHECK(generation_of(tokens.back()) == 1);
  const MapCopy turned = copy_after(*copy_at(ensembles, 0), 1);
  // The old home's copy does not count.
  write_copy_at(ensembles, 0, turned);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 5; }));
  cycle();
  CHECK(generation_of(tokens.back()) == 1);
  write_copy_at(ensembles, 1, turned);
  cycle();
  CHECK(generation_of(tokens.back()) == 2);
  publish_by_hand(ensembles, 6, 1);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 6; }));
  cycle();
  CHECK(generation_of(tokens.back()) == 2);
  CHECK(std::ranges::is_sorted(tokens));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: the copy is read with the lock of the new home, not before",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 4, 1);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 4; }));
  make_contender(ensembles, 1);
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  wait_a_little(ensembles);
  write_copy_at(ensembles, 1, copy_after(*copy_at(ensembles, 1), 1));
  remove_contender(ensembles, 1);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(generation_of(lease.result().token()) == 2);
  lease.result().release();
  CHECK(mine.end(ensembles));
}

TEST_CASE(
    "moving mutex: an acquire that waits at the old home leaves its queue when the move is over",
    "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  make_contender(ensembles, 0);
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 2; }));
  publish_by_hand(ensembles, 5, 1);
  wait_a_little(ensembles);
  CHECK(nodes_at(ensembles, 0) == 2);  // it stays in its place
  publish_by_hand(ensembles, 6, 1);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.result().homes() == Homes{"west"});
  CHECK(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 1; }));
  lease.result().release();
  CHECK(mine.end(ensembles));
}

TEST_CASE(
    "moving mutex: an acquire that has the old home releases it when the move is over, and "
    "keeps its place at the new one",
    "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 4, 1);
  make_contender(ensembles, 1);
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  const auto places = ensembles.west.children(moving_path);
  publish_by_hand(ensembles, 6, 1);
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 0; }));
  CHECK(ensembles.west.children(moving_path) == places);
  remove_contender(ensembles, 1);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.result().homes() == Homes{"west"});
  lease.result().release();
  CHECK(mine.end(ensembles));
}

TEST_CASE(
    "moving mutex: an acquire that loses the old home leaves the new one's queue, and begins "
    "anew at the old one",
    "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 4, 1);
  make_contender(ensembles, 1);
  int requeued = 0;
  AcquireOptions options;
  options.on_requeued = [&] { ++requeued; };
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(options, lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  make_contender(ensembles, 0);
  ensembles.world.ensemble.expire(mine.east->session().id);
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 1; }));
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 2; }));
  wait_a_little(ensembles);
  CHECK(nodes_at(ensembles, 1) == 1);
  CHECK(requeued == 1);
  remove_contender(ensembles, 0);
  remove_contender(ensembles, 1);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  lease.result().release();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: an acquire that may not queue again ends with its session",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  make_contender(ensembles, 0);
  Outcome<MovingLease> lease;
  AcquireOptions options;
  options.requeue = RequeuePolicy::fail;
  mine.mutex->async_acquire(options, lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 2; }));
  ensembles.world.ensemble.expire(mine.east->session().id);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.error() == Errc::session_lost);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: an acquire with a limit says why it has no lease", "[ensembles]") {
  Ensembles ensembles;
  LockProcess mine{ensembles, "mine"};
  const auto attempt = [&](auto start) {
    const auto result = run<MovingAcquireResult>(ensembles.world, start);
    REQUIRE(result.arrived());
    CHECK_FALSE(result.error());
    CHECK_FALSE(result.result().lease);
    return result.result().reason;
  };
  const auto briefly = [&](auto done) {
    mine.mutex->async_try_acquire_for(brief_limit, std::move(done));
  };
  const auto once = [&](auto done) { mine.mutex->async_try_acquire(std::move(done)); };
  CHECK(attempt(briefly) == NotAcquired::no_answer);  // there is no map
  make_map(ensembles);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 3; }));
  make_contender(ensembles, 0);
  CHECK(attempt(once) == NotAcquired::blocked);
  CHECK(attempt(briefly) == NotAcquired::blocked);
  remove_contender(ensembles, 0);
  publish_by_hand(ensembles, 4, 1);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 4; }));
  make_contender(ensembles, 1);
  CHECK(attempt(once) == NotAcquired::blocked);
  CHECK(attempt(briefly) == NotAcquired::blocked);
  CHECK(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 0; }));
  ensembles.world.ensemble.stop();
  REQUIRE(ensembles.world.run_until([&] { return !is_connected(mine.east->connection_state()); }));
  CHECK(attempt(once) == NotAcquired::no_connection);
  CHECK(attempt(briefly) == NotAcquired::no_connection);
  ensembles.world.ensemble.start();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: acquires end when the map's client closes", "[ensembles]") {
  for (const bool has_map : {true, false}) {
    Ensembles ensembles;
    if (has_map) make_map(ensembles);
    LockProcess mine{ensembles, "mine"};
    if (has_map) make_contender(ensembles, 0);
    Outcome<MovingLease> lease;
    mine.mutex->async_acquire(lease.handler());
    if (has_map) REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 0) == 2; }));
    Outcome<bool> closed;
    mine.east->async_close(World::limit, closed.handler());
    REQUIRE(ensembles.world.run_until_arrived(lease));
    CHECK(lease.error() == Errc::closed);
    REQUIRE(ensembles.world.run_until_arrived(closed));
  }
}

TEST_CASE("moving mutex: an acquire in the queue of another client ends when the map's closes",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  publish_by_hand(ensembles, 6, 1);
  LockProcess mine{ensembles, "mine"};
  make_contender(ensembles, 1);
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  Outcome<bool> closed;
  mine.east->async_close(World::limit, closed.handler());
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.error() == Errc::closed);
  REQUIRE(ensembles.world.run_until_arrived(closed));
  Outcome<MovingLease> late;
  mine.mutex->async_acquire(late.handler());
  REQUIRE(ensembles.world.run_until_arrived(late));
  CHECK(late.error() == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::moving_acquire_test
