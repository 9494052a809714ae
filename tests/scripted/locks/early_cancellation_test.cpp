// Cancellations and a close that reach the client's strand before the call that they end.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <optional>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::early_cancellation_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// The client "holder" holds /lock, and "mine" wants it.
struct Early {
  Early() {
    auto acquired = run<Lease>(world, [&](auto done) { others->async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    lease = std::move(acquired.result());
    world.settle();
    world.ensemble.clear_history();
  }
  /// Starts an operation whose cancellation is on the strand before the operation is.
  template <typename... Results, typename Start>
  [[nodiscard]] Outcome<Results...> cancelled(Start start) {
    asio::post(mine->get_executor(), [this] { signal.emit(asio::cancellation_type::total); });
    Outcome<Results...> outcome;
    start(asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
    return outcome;
  }
  /// Checks that the operation has ended for its cancellation, and leaves nothing behind.
  template <typename... Results>
  void check_aborted(const Outcome<Results...>& outcome) {
    REQUIRE(world.run_until_arrived(outcome));
    CHECK(outcome.error() == asio::error::operation_aborted);
    CHECK(world.run_until_idle(*mine));
    CHECK(world.ensemble.children("/lock").size() == 1);
  }
  void end() {
    lease.release();
    others.reset();
    CHECK(world.run_until([&] { return world.ensemble.children("/lock").empty(); }));
    CHECK(world.end(mine));
    CHECK(world.end(holder));
  }

  World world;
  asio::cancellation_signal signal;
  std::unique_ptr<Client> holder = world.client("holder");
  std::unique_ptr<Client> mine = world.client("mine");
  std::optional<InterProcessMutex> others{std::in_place, *holder, "/lock"};
  Lease lease;
};

TEST_CASE("early cancellation: an acquire that is cancelled before it begins does not wait") {
  Early early;
  LockOptions options;
  SECTION("a lock of one node for each contender") {}
  SECTION("a lock that is kept") { options.keep_idle_for = 1min; }
  {
    InterProcessMutex mutex{*early.mine, "/lock", options};
    early.check_aborted(
        early.cancelled<Lease>([&](auto done) { mutex.async_acquire(std::move(done)); }));
  }
  early.end();
}

TEST_CASE("early cancellation: a shared reader that is cancelled before it begins does not wait") {
  Early early;
  {
    InterProcessReadWriteLock theirs{*early.holder, "/book"};
    auto writer = run<Lease>(early.world, [&](auto done) { theirs.write().async_acquire(done); });
    REQUIRE(writer.arrived());
    REQUIRE_FALSE(writer.error());
    InterProcessReadWriteLock book{*early.mine, "/book", {.share_readers = 64}};
    early.check_aborted(
        early.cancelled<Lease>([&](auto done) { book.read().async_acquire(std::move(done)); }));
    writer.result().release();
    CHECK(early.world.run_until([&] { return early.world.ensemble.children("/book").empty(); }));
  }
  early.end();
}

TEST_CASE("early cancellation: a set of locks that is cancelled before it begins is not acquired") {
  Early early;
  {
    InterProcessMutex a{*early.mine, "/a"};
    InterProcessMutex b{*early.mine, "/b"};
    InterProcessMultiLock both{{a, b}};
    early.check_aborted(
        early.cancelled<LeaseGroup>([&](auto done) { both.async_acquire(std::move(done)); }));
    CHECK(early.world.ensemble.children("/a").empty());
    CHECK(early.world.ensemble.children("/b").empty());
  }
  early.end();
}

TEST_CASE("early cancellation: a wait for the loss of a group ends, though the group is held") {
  Early early;
  {
    InterProcessMutex a{*early.mine, "/a"};
    InterProcessMutex b{*early.mine, "/b"};
    InterProcessMultiLock both{{a, b}};
    auto acquired =
        run<LeaseGroup>(early.world, [&](auto done) { both.async_acquire(std::move(done)); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    early.check_aborted(
        early.cancelled<>([&](auto done) { acquired.result().async_wait_lost(std::move(done)); }));
    CHECK(acquired.result().state() == LeaseState::held);
    acquired.result().release();
    CHECK(early.world.run_until([&] { return early.world.ensemble.children("/a").empty(); }));
  }
  early.end();
}

TEST_CASE("early cancellation: a new identity that is cancelled before it begins is not written") {
  Early early;
  {
    InterProcessMutex own{*early.mine, "/own"};
    auto acquired = run<Lease>(early.world, [&](auto done) { own.async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    early.check_aborted(early.cancelled<>(
        [&](auto done) { acquired.result().async_set_identity("another name", std::move(done)); }));
    const Reply found = early.world.ensemble.operate(request::Get{acquired.result().node()});
    CHECK(found.data == "mine");
    acquired.result().release();
    CHECK(early.world.run_until([&] { return early.world.ensemble.children("/own").empty(); }));
  }
  early.end();
}

TEST_CASE("early close: what begins behind the close of a client that still holds is refused") {
  Early early;
  Outcome<Lease> late;
  Outcome<LeaseGroup> late_set;
  Outcome<bool> closing;
  {
    InterProcessMutex own{*early.mine, "/own"};
    auto acquired = run<Lease>(early.world, [&](auto done) { own.async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    InterProcessMutex a{*early.mine, "/a"};
    InterProcessMutex b{*early.mine, "/b"};
    InterProcessMultiLock both{{a, b}};
    early.mine->async_close(Deadline{World::limit}, closing.handler());
    a.async_acquire(late.handler());
    both.async_acquire(late_set.handler());
    CHECK(early.world.run_until_arrived(late));
    CHECK(early.world.run_until_arrived(late_set));
    early.world.settle();
    CHECK(early.world.ensemble.children("/a").empty());
    acquired.result().release();
  }
  REQUIRE(late.arrived());
  CHECK(late.error() == Errc::closed);
  REQUIRE(late_set.arrived());
  CHECK(late_set.error() == Errc::closed);
  CHECK(early.world.run_until_arrived(closing));
  early.end();
}

}  // namespace
}  // namespace custodian::tests::early_cancellation_test
