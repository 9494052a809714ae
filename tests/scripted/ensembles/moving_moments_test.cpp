// Maps and their locks: how a call is cancelled at once, closed over, or tried once only.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include "scripted/ensembles/moving_mutex_process.hpp"
#include "scripted/moments.hpp"
#include "support/error_of.hpp"

namespace custodian::tests::moving_moments_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace moving_world;
using namespace moving_mutex_process;

constexpr auto layout_path = "/custodian/map";

// -- Layouts --------------------------------------------------------------------------------------

TEST_CASE("map verify: a call that is cancelled before it begins creates nothing", "[ensembles]") {
  Ensembles ensembles;
  Process mine{ensembles, "mine"};
  asio::cancellation_signal signal;
  Outcome<MapVerdict> found;
  mine.map.async_verify(layout_path, asio::bind_cancellation_slot(signal.slot(), found.handler()));
  signal.emit(asio::cancellation_type::all);
  REQUIRE(ensembles.world.run_until_arrived(found));
  CHECK(found.error() == asio::error::operation_aborted);
  for (const std::size_t at : {0U, 1U}) CHECK_FALSE(ensembles.data(at, layout_path));
  CHECK(mine.end(ensembles));
}

TEST_CASE("map verify: a create that may not be repeated fails with its ensemble", "[ensembles]") {
  Ensembles ensembles;
  Process mine{ensembles, "mine"};
  const auto plan = std::make_shared<Moments>("mine-east");
  plan->fault_at({"create"}, {.kind = FaultKind::fail_before});
  ensembles.world.ensemble.set_fault_plan(plan);
  const OperationOptions once{.retry = RetryPolicy::n_times(0, 1ms)};
  const auto found = run<MapVerdict>(ensembles.world, [&](auto done) {
    mine.map.async_verify(layout_path, once, std::move(done));
  });
  REQUIRE(found.arrived());
  CHECK(plan->have_come());
  CHECK(found.error() == ErrorCondition::outcome_unknown);
  CHECK(found.result().ensemble == "east");
  CHECK_FALSE(ensembles.data(0, layout_path));
  CHECK(mine.end(ensembles));
}

// -- Maps that move -------------------------------------------------------------------------------

TEST_CASE("moving map: an epoch has no more than 32 bits", "[ensembles]") {
  for (const std::int64_t epoch : {std::int64_t{-1}, std::int64_t{1} << 32}) {
    Ensembles ensembles;
    ClientOptions options = ensembles.world.options("mine");
    options.fencing_epoch = epoch;
    std::unique_ptr<Client> client;
    // A client may refuse a negative epoch itself.
    const error_code error = error_of([&] {
      client = ensembles.world.client(std::move(options));
      const MovingMap map{MovingMap::Clients{{"east", *client}}};
    });
    CHECK(error == Errc::invalid_argument);
  }
  Ensembles ensembles;
  ClientOptions options = ensembles.world.options("mine");
  options.fencing_epoch = (std::int64_t{1} << 32) - 1;
  const auto client = ensembles.world.client(std::move(options));
  CHECK_NOTHROW(MovingMap{MovingMap::Clients{{"east", *client}}});
}

TEST_CASE("moving map: the layout is the last generation's, once there is a map", "[ensembles]") {
  Ensembles ensembles;
  LockProcess mine{ensembles, "mine"};
  CHECK_FALSE(mine.map->layout());
  make_map(ensembles);
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 3; }));
  REQUIRE(mine.map->layout());
  CHECK(mine.map->layout()->pins == layout_at(0).pins);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: copies of two maps are not moved", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapCopy other = *copy_at(ensembles, 1);
  other.generations.front().pins[moving_path] = "west";
  ensembles.west.operate(request::Set{.path = copy_path, .data = recipes_detail::encode(other)});
  MapProcess mine{ensembles, "mine"};
  const auto moved =
      run<>(ensembles.world, [&](auto done) { mine.move_to(layout_at(1), std::move(done)); });
  REQUIRE(moved.arrived());
  CHECK(moved.error() == Errc::invalid_argument);
  CHECK(copy_at(ensembles, 0)->version == 3);
  CHECK(copy_at(ensembles, 1) == other);
  CHECK(mine.end(ensembles));
}

// -- Locks whose path moves -----------------------------------------------------------------------

TEST_CASE("moving mutex: an acquire that is cancelled before it begins queues nowhere",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  REQUIRE(ensembles.world.run_until([&] { return mine.map->version() == 3; }));
  asio::cancellation_signal signal;
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(asio::bind_cancellation_slot(signal.slot(), lease.handler()));
  signal.emit(asio::cancellation_type::all);
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.error() == asio::error::operation_aborted);
  CHECK(nodes_at(ensembles, 0) == 0);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: an acquire that begins while the client closes is closed", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease held = acquire(ensembles, mine);
  Outcome<bool> closed;
  mine.east->async_close(Deadline{1h}, closed.handler());
  ensembles.world.settle();
  Outcome<MovingLease> lease;
  mine.mutex->async_acquire(lease.handler());
  CHECK(ensembles.world.run_until_arrived(lease));
  held.release();
  REQUIRE(ensembles.world.run_until_arrived(lease));
  CHECK(lease.error() == Errc::closed);
  REQUIRE(ensembles.world.run_until_arrived(closed));
  CHECK(nodes_at(ensembles, 0) == 0);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving mutex: a lease that is moved to itself stays held", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease lease = acquire(ensembles, mine);
  MovingLease& same = lease;
  lease = std::move(same);
  CHECK(lease.state() == LeaseState::held);
  CHECK(nodes_at(ensembles, 0) == 1);
  lease.release();
  CHECK(mine.end(ensembles));
}

}  // namespace
}  // namespace custodian::tests::moving_moments_test
