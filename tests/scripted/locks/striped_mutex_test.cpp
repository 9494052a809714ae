// Acquires of any stripe without faults: cancelled early, ended by the client's close, and with a
// free stripe.

#include "custodian/locks/striped_mutex.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <set>

#include "scripted/locks/stock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::striped_mutex_test {

namespace asio = boost::asio;
using namespace stock;

namespace {

TEST_CASE("striped: who is cancelled before it has begun does not begin", "[striped]") {
  World world;
  auto other = world.client("other");
  auto observed = world.client("observed");
  {
    StripedMutex others{*other, path, stripes};
    StripedMutex mine{*observed, path, stripes};
    auto zero = run<Lease>(world, [&](auto done) { others[0].async_acquire(done); });
    auto one = run<Lease>(world, [&](auto done) { others[1].async_acquire(done); });
    REQUIRE((zero.arrived() && one.arrived()));
    asio::cancellation_signal signal;
    Outcome<StripeLease> any;
    mine.async_acquire_any(asio::bind_cancellation_slot(signal.slot(), any.handler()));
    signal.emit(asio::cancellation_type::total);
    REQUIRE(world.run_until_arrived(any));
    CHECK(any.error() == asio::error::operation_aborted);
    CHECK(world.run_until_idle(*observed));
    CHECK(nodes(world).size() == stripes);
  }
  CHECK(world.end(observed));
  CHECK(world.end(other));
}

TEST_CASE("striped: a client that closes ends who waits for any stripe", "[striped]") {
  World world;
  auto other = world.client("other");
  auto observed = world.client("observed");
  {
    StripedMutex others{*other, path, stripes};
    StripedMutex mine{*observed, path, stripes};
    std::vector<Lease> held;
    for (std::size_t i = 0; i < stripes; ++i) {
      auto one = run<Lease>(world, [&](auto done) { others[i].async_acquire(done); });
      REQUIRE(one.arrived());
      held.push_back(std::move(one.result()));
    }
    Outcome<StripeLease> any;
    std::set<std::string> seen;
    AcquireOptions options;
    options.on_position = [&](std::size_t, const Participant& nearest) {
      seen.insert(nearest.node);
    };
    mine.async_acquire_any(options, any.handler());
    REQUIRE(world.run_until([&] { return seen.size() == stripes; }));
    CHECK(nodes(world).size() == 2 * stripes);
    Outcome<bool> closed;
    observed->async_close(World::limit, closed.handler());
    REQUIRE(world.run_until_arrived(any));
    CHECK(any.error() == Errc::closed);
    REQUIRE(world.run_until_arrived(closed));
    CHECK(closed.result());
    CHECK(nodes(world).size() == stripes);
    held.clear();
    CHECK(world.run_until_idle(*other));
    CHECK(nodes(world).empty());
    CHECK(world.ensemble.watches() == 0);
  }
  CHECK(world.end(observed));
  CHECK(world.end(other));
}

TEST_CASE("striped: a free stripe is found wherever it is, and tried in one round", "[striped]") {
  for (std::size_t free = 0; free < 3; ++free) {
    World world;
    auto other = world.client("other");
    auto observed = world.client("observed");
    {
      StripedMutex others{*other, path, 3};
      StripedMutex mine{*observed, path, 3};
      std::vector<Lease> held;
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == free) continue;
        auto one = run<Lease>(world, [&](auto done) { others[i].async_acquire(done); });
        REQUIRE(one.arrived());
        held.push_back(std::move(one.result()));
      }
      for (const bool only_try : {true, false}) {
        auto any = run<StripeLease>(world, [&](auto done) {
          if (only_try) return mine.async_try_acquire_any(done);
          mine.async_acquire_any(done);
        });
        REQUIRE(any.arrived());
        CHECK_FALSE(any.error());
        REQUIRE(any.result());
        CHECK(any.result().index == free);
        any.result().lease.release();
        CHECK(world.run_until_idle(*observed));
      }
    }
    CHECK(world.end(observed));
    CHECK(world.end(other));
  }
}

}  // namespace
}  // namespace custodian::tests::striped_mutex_test
