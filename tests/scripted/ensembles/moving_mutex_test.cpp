// A lock whose path moves: what a hold takes and keeps, and what it costs.

#include "custodian/ensembles/moving_mutex.hpp"

#include "custodian/locks/inter_process_mutex.hpp"
#include "ensembles/moving_hold.hpp"
#include "scripted/ensembles/moving_mutex_process.hpp"

namespace custodian::tests::moving_mutex_test {
namespace {

using namespace std::chrono_literals;
using namespace moving_world;
using namespace moving_mutex_process;

TEST_CASE("moving mutex: while nothing moves it is a mutex at its path's home", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease lease = acquire(ensembles, mine);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.homes() == Homes{"east"});
  CHECK(nodes_at(ensembles, 0) == 1);
  CHECK(nodes_at(ensembles, 1) == 0);
  CHECK(generation_of(lease.token()) == 1);
  CHECK(lease.remaining() > 1s);
  CHECK_THROWS_AS(lease.check("west"), Error);
  const auto result = run<std::vector<TransactionResult>>(ensembles.world, [&](auto done) {
    mine.east->async_commit({lease.check("east")}, {}, std::move(done));
  });
  CHECK_FALSE(result.error());
  lease.release();
  CHECK(lease.state() == LeaseState::released);
  CHECK(mine.end(ensembles));
  CHECK(nodes_at(ensembles, 0) == 0);
}

TEST_CASE("moving mutex: while nothing moves it makes the requests of a mutex", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  std::optional<InterProcessMutex> plain{std::in_place, *mine.east, "/plain"};
  // The first acquire makes the path, and the session a member.
  acquire(ensembles, mine).release();
  {
    const auto first =
        run<Lease>(ensembles.world, [&](auto done) { plain->async_acquire(std::move(done)); });
    REQUIRE(first.arrived());
    const Lease ends = std::move(first.result());
  }
  ensembles.world.settle();
  const auto requests_of = [&](auto cycle) {
    for (testing::FakeEnsemble* each : ensembles.all) each->clear_history();
    for (int i = 0; i < 3; ++i) cycle();
    ensembles.world.settle();
    std::vector<std::string> kinds;
    for (testing::FakeEnsemble* each : ensembles.all) {
      for (const testing::Submission& request : each->history()) kinds.push_back(request.kind);
    }
    return kinds;
  };
  const auto of_plain = requests_of([&] {
    const auto held =
        run<Lease>(ensembles.world, [&](auto done) { plain->async_acquire(std::move(done)); });
    const Lease ends = std::move(held.result());
  });
  const auto of_moving = requests_of([&] { acquire(ensembles, mine).release(); });
  CHECK(of_plain.size() >= 6);
  CHECK(of_moving == of_plain);
  plain.reset();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a hold takes the new home in addition, and then gives up the old one",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  LockProcess other{ensembles, "other"};
  MovingLease lease = acquire(ensembles, mine);
  const FencingToken token = lease.token();
  Outcome<MovingLease> next;
  other.mutex->async_acquire(next.handler());
  publish_by_hand(ensembles, 4, 1);
  CHECK(run_until_at(ensembles, lease, {"east", "west"}));
  publish_by_hand(ensembles, 5, 1);
  wait_a_little(ensembles);
  CHECK(lease.homes() == Homes{"east", "west"});
  publish_by_hand(ensembles, 6, 1);
  CHECK(run_until_at(ensembles, lease, {"west"}));
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.token() == token);
  CHECK_FALSE(next.arrived());
  // A loss at the old home does not concern this lease any more.
  ensembles.world.ensemble.expire(mine.east->session().id);
  wait_a_little(ensembles);
  CHECK(lease.state() == LeaseState::held);
  CHECK_FALSE(lease.lost().stop_requested());
  lease.release();
  REQUIRE(ensembles.world.run_until_arrived(next));
  CHECK(next.result().homes() == Homes{"west"});
  CHECK(next.result().token() > token);
  CHECK(generation_of(next.result().token()) == 2);
  next.result().release();
  CHECK(mine.end(ensembles));
  CHECK(other.end(ensembles));
}

TEST_CASE("moving mutex: a path that stays where it is knows nothing of a move", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  publish_by_hand(ensembles, 7, 1);  // to west, and on the way to east
  publish_by_hand(ensembles, 9, 0);
  std::optional<MovingMutex> still{std::in_place, *mine.map, std::string{moving_path} + "-not"};
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 9; }));
  const std::string home = mine.map->homes_of(still->path()).front();
  for (const std::int64_t version : {9, 10, 11, 12}) {
    publish_by_hand(ensembles, version, 1);
    REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == version; }));
    const auto lease = run<MovingLease>(ensembles.world,
                                        [&](auto done) { still->async_acquire(std::move(done)); });
    REQUIRE(lease.arrived());
    CHECK(lease.result().homes() == Homes{home});
    CHECK(generation_of(lease.result().token()) == 1);
    lease.result().release();
  }
  still.reset();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a hold is lost with either home", "[ensembles]") {
  for (const std::size_t lost_home : {0U, 1U}) {
    Ensembles ensembles;
    make_map(ensembles);
    LockProcess mine{ensembles, "mine"};
    MovingLease lease = acquire(ensembles, mine);
    publish_by_hand(ensembles, 4, 1);
    REQUIRE(run_until_at(ensembles, lease, {"east", "west"}));
    Client& client = lost_home == 0 ? *mine.east : *mine.west;
    ensembles.all.at(lost_home)->expire(client.session().id);
    CHECK(ensembles.world.run_until([&] { return lease.lost().stop_requested(); }));
    CHECK(lease.state() == LeaseState::lost);
    CHECK(lease.remaining() == 0ns);
    // It stays lost when the path has left that home.
    publish_by_hand(ensembles, 6, 1);
    wait_a_little(ensembles);
    CHECK(lease.state() == LeaseState::lost);
    lease.release();
    MovingLease again = acquire(ensembles, mine);
    CHECK(again.state() == LeaseState::held);
    again.release();
    CHECK(mine.end(ensembles));
  }
}

TEST_CASE("moving mutex: a hold that a move has not waited for is lost, and not without a lock",
          "[ensembles]") {
  // As after an operator has removed its member.
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease lease = acquire(ensembles, mine);
  make_contender(ensembles, 1);
  publish_by_hand(ensembles, 6, 1);
  CHECK(ensembles.world.run_until([&] { return lease.lost().stop_requested(); }));
  CHECK(lease.state() == LeaseState::lost);
  lease.release();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a loss that is not reported yet counts when the home is given up",
          "[ensembles]") {
  Ensembles ensembles;
  auto east = ensembles.client(0, "mine-east");
  auto west = ensembles.client(1, "mine-west");
  {
    const auto hold = std::make_shared<recipes_detail::MovingHold>(east->share(), [] {});
    std::vector<Lease> probes;
    for (Client* const client : {east.get(), west.get()}) {
      InterProcessMutex mutex{*client, moving_path};
      const auto lease =
          run<Lease>(ensembles.world, [&](auto done) { mutex.async_acquire(std::move(done)); });
      REQUIRE(lease.arrived());
      probes.push_back(lease.result().share());
      hold->add(names.at(probes.size() - 1), std::move(lease.result()));
    }
    REQUIRE(hold->grant({.value = 1}));
    ensembles.world.ensemble.expire(east->session().id);
    // The callbacks have not run yet.
    const auto is_lost = [&] { return probes.front().state() == LeaseState::lost; };
    REQUIRE(ensembles.world.run_until(is_lost));
    hold->drop("east");
    CHECK(hold->state() == LeaseState::lost);
    CHECK(ensembles.world.run_until([&] { return hold->lost().stop_requested(); }));
    hold->release();
  }
  CHECK(ensembles.world.end(east));
  CHECK(ensembles.world.end(west));
}

TEST_CASE("moving mutex: a hold of the old home alone outlives the loss of the new home's session",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease lease = acquire(ensembles, mine);
  make_contender(ensembles, 1);
  publish_by_hand(ensembles, 4, 1);
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  ensembles.west.expire(mine.west->session().id);
  REQUIRE(ensembles.world.run_until([&] { return nodes_at(ensembles, 1) == 2; }));
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.homes() == Homes{"east"});
  remove_contender(ensembles, 1);
  CHECK(run_until_at(ensembles, lease, {"east", "west"}));
  lease.release();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a session joins before it enters a queue, and a new one again",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  for (int i = 0; i < 2; ++i) {
    ensembles.world.ensemble.clear_history();
    acquire(ensembles, mine).release();
    ensembles.world.settle();
    std::size_t joins = 0;
    std::size_t queues = 0;
    std::size_t step = 0;
    for (const testing::Submission& request : ensembles.world.ensemble.history()) {
      ++step;
      if (request.kind == "multi" && joins == 0) joins = step;
      if (request.kind == "create" && queues == 0) queues = step;
    }
    CHECK(joins > 0);
    CHECK(joins < queues);
    CHECK(members_at(ensembles, 0).size() == 1);
    const std::int64_t before = mine.east->session().id;
    ensembles.world.ensemble.expire(before);
    REQUIRE(ensembles.world.run_until([&] { return mine.east->session().id != before; }));
  }
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a lock that a later session has before it has joined is given back",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  acquire(ensembles, mine).release();
  const std::int64_t before = mine.east->session().id;
  ensembles.world.ensemble.stop();
  REQUIRE(ensembles.world.run_until([&] { return !is_connected(mine.east->connection_state()); }));
  ensembles.world.ensemble.expire(before);
  Outcome<MovingLease> lease;
  // For all that the client knows its session is a member.
  mine.mutex->async_acquire(lease.handler());
  ensembles.world.settle();
  CHECK(mine.east->session().id == before);
  ensembles.world.ensemble.start();
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(mine.east->session().id != before);
  CHECK(lease.result().state() == LeaseState::held);
  CHECK(members_at(ensembles, 0).size() == 1);
  lease.result().release();
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a home without a client is refused", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MapCopy copy{.generations = {layout_at(0)}};
  copy.generations.front().version = 1;
  copy.generations.front().ensembles["north"] = 1;
  copy.generations.front().pins[moving_path] = "north";
  ensembles.world.ensemble.operate(
      request::Set{.path = copy_path, .data = recipes_detail::encode(copy)});
  LockProcess late{ensembles, "late"};
  REQUIRE(ensembles.world.run_until([&] { return late.map->version() == 3; }));
  if (late.map->homes_of(moving_path) == Homes{"north"}) {
    Outcome<MovingLease> lease;
    late.mutex->async_acquire(lease.handler());
    REQUIRE(ensembles.world.run_until_arrived(lease));
    CHECK(lease.error() == Errc::invalid_argument);
  }
  CHECK(mine.end(ensembles));
  CHECK(late.end(ensembles));
}

TEST_CASE("moving mutex: what it cannot do is refused", "[ensembles]") {
  Ensembles ensembles;
  LockProcess mine{ensembles, "mine"};
  CHECK_THROWS_AS(MovingMutex(*mine.map, "moves"), Error);
  CHECK_THROWS_AS(MovingMutex(*mine.map, "/moves", {.hand_off = HandOff::cohort(3)}), Error);
  CHECK_THROWS_AS(MovingMutex(*mine.map, "/moves", {.keep_idle_for = 1s}), Error);
  CHECK_THROWS_AS(MovingMutex(*mine.map, "/moves", {.lease = {.hold_at_most = 1s}}), Error);
  AcquireOptions limited;
  limited.lease.hold_at_most = 1s;
  const auto refused = run<MovingLease>(
      ensembles.world, [&](auto done) { mine.mutex->async_acquire(limited, std::move(done)); });
  REQUIRE(refused.arrived());
  CHECK(refused.error() == Errc::invalid_argument);
  CHECK_THROWS_AS(MovingMap(MovingMap::Clients{}), Error);
  CHECK_THROWS_AS(MovingMap({{"east", *mine.east}, {"west", *mine.east}}), Error);
  CHECK_THROWS_AS(MovingMap({{"a b", *mine.east}}), Error);
  CHECK_THROWS_AS(mine.map->move_to({}), Error);
  CHECK(mine.map->version() == 0);
  CHECK_FALSE(mine.map->layout());
  CHECK(mine.map->homes_of("/a").empty());
  MovingLease empty;
  CHECK(empty.state() == LeaseState::released);
  CHECK(empty.token() == FencingToken{});
  CHECK_THROWS_AS(empty.check("east"), Error);
  CHECK(mine.end(ensembles));
}

}  // namespace
}  // namespace custodian::tests::moving_mutex_test
