// Locks with terms that are seldom met: positions within a client, a lease of another recipe, waits
// for a connection.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/with_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::rare_terms_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

Lease acquire(World& world, InterProcessMutex& mutex) {
  auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE(acquired.arrived());
  REQUIRE_FALSE(acquired.error());
  return std::move(acquired.result());
}

TEST_CASE("rare terms: a waiter's position falls when a contender of its client gives up") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    Lease first = acquire(world, mutex);
    asio::cancellation_signal signal;
    Outcome<Lease> second;
    Outcome<Lease> third;
    std::size_t ahead = 0;
    AcquireOptions options;
    options.on_position = [&](std::size_t now, const Participant&) { ahead = now; };
    mutex.async_acquire(options, asio::bind_cancellation_slot(signal.slot(), second.handler()));
    REQUIRE(world.run_until([&] { return ahead == 1; }));
    mutex.async_acquire(options, third.handler());
    REQUIRE(world.run_until([&] { return ahead == 2; }));
    signal.emit(asio::cancellation_type::total);
    REQUIRE(world.run_until_arrived(second));
    CHECK(second.error() == asio::error::operation_aborted);
    CHECK(world.run_until([&] { return ahead == 1; }));
    CHECK_FALSE(third.arrived());
    first.release();
    REQUIRE(world.run_until_arrived(third));
    CHECK_FALSE(third.error());
    third.result().release();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("rare terms: a mutex's lease is none of a read/write lock at the same path") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    Lease lease = acquire(world, mutex);
    InterProcessReadWriteLock book{*client, "/lock"};
    const auto reading =
        run<Lease>(world, [&](auto done) { book.read().async_acquire(lease, done); });
    REQUIRE(reading.arrived());
    CHECK(reading.error() == Errc::invalid_argument);
    CHECK(world.ensemble.children("/lock").size() == 1);
    lease.release();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("rare terms: the wait for a lock ends a longer wait for a connection") {
  World world;
  auto client = world.client("mine");
  world.ensemble.stop();
  REQUIRE(world.run_until([&] { return !is_connected(client->connection_state()); }));
  std::optional<LockedCall<void>> call;
  const WithLockOptions options{
      .wait = brief_limit, .connection_wait = 1h, .when_away = Otherwise::skip};
  bool ran = false;
  asio::co_spawn(world.context,
                 co_with_lock(*client, "/lock", options,
                              [&ran]() -> asio::awaitable<void> {
                                ran = true;
                                co_return;
                              }),
                 [&call](const std::exception_ptr& thrown, LockedCall<void> ended) {
                   if (!thrown) call.emplace(std::move(ended));
                 });
  REQUIRE(world.run_until([&] { return call.has_value(); }));
  CHECK_FALSE(ran);
  CHECK(call->reason == NotAcquired::no_connection);
  world.ensemble.start();
  CHECK(world.run_until_idle(*client));
}

TEST_CASE("rare terms: a wait for a connection in a context that nobody runs ends in time") {
  World world;
  auto client = world.client("mine");
  world.ensemble.stop();
  REQUIRE(world.run_until([&] { return !is_connected(client->connection_state()); }));
  const WithLockOptions options{.wait = brief_limit,
                                .connection_wait = brief_limit / 2,
                                .when_busy = Otherwise::skip,
                                .when_away = Otherwise::skip};
  const auto call = with_lock(*client, "/lock", options, [] { FAIL("it ran"); });
  CHECK_FALSE(call);
  CHECK(call.reason == NotAcquired::context_not_run);
  world.ensemble.start();
  CHECK(world.run_until_idle(*client));
}

}  // namespace
}  // namespace custodian::tests::rare_terms_test
