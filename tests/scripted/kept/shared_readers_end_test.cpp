// How readers of one client that share a node lose it, or give up.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <deque>

#include "custodian/inspect/revoke.hpp"
#include "scripted/kept/shared.hpp"

namespace custodian::tests::shared_readers_end_test {

using namespace std::chrono_literals;

namespace {

TEST_CASE("shared readers: each of them is notified of the loss (EVERY_HOLD)") {
  Shared shared;
  Lease first = shared.read_settled();
  Lease second = shared.read();
  Lease third = shared.read();
  LossReason expected{};
  SECTION("with the session") {
    shared.world.ensemble.expire(shared.mine->session().id);
    expected = LossReason::session_over;
  }
  SECTION("by an operator, as one of them finds out") {
    shared.world.remove(first.node());
    Outcome<> asked;
    first.async_assert_held(asked.handler());
    REQUIRE(shared.world.run_until_arrived(asked));
    expected = LossReason::node_deleted;
  }
  for (Lease* each : {&first, &second, &third}) {
    CHECK(shared.world.run_until([&] { return each->lost().stop_requested(); }));
    CHECK(each->loss_reason() == expected);
  }
  // A later reader has a node of its own.
  Lease next = shared.read();
  CHECK(next.token().grant == 0);
  CHECK(next.state() == LeaseState::held);
  first.release();
  second.release();
  CHECK(next.state() == LeaseState::held);
}

TEST_CASE("shared readers: each of them is asked to release, and nobody joins any more") {
  Shared shared;
  Lease first = shared.read_settled();
  Lease second = shared.read();
  int asked = 0;
  const Subscription one = first.make_revocable([&] { ++asked; });
  const Subscription two = second.make_revocable([&] { ++asked; });
  shared.world.settle();
  const auto asks =
      run<bool>(shared.world, [&](auto done) { async_revoke(*shared.other, first.node(), done); });
  CHECK(asks.result());
  REQUIRE(shared.world.run_until([&] { return asked == 2; }));
  Lease third = shared.read();
  CHECK(third.node() != first.node());
}

TEST_CASE("shared readers: nothing of a connection that is gone is joined (SEEN_HERE)") {
  Shared shared;
  SECTION("a node that is held") {
    Lease first = shared.read_settled();
    shared.world.ensemble.stop();
    REQUIRE(shared.world.run_until(
        [&] { return shared.mine->connection_state() == ConnectionState::suspended; }));
    shared.world.ensemble.start();
    REQUIRE(shared.world.run_until(
        [&] { return shared.mine->connection_state() == ConnectionState::reconnected; }));
    Lease second = shared.read();
    CHECK(second.node() != first.node());
  }
  SECTION("a node that waits") {
    Lease writing = shared.acquire(shared.others_book->write());
    auto first = shared.queue_reader();
    shared.world.ensemble.stop();
    REQUIRE(shared.world.run_until(
        [&] { return shared.mine->connection_state() == ConnectionState::suspended; }));
    Kept::Place second;
    shared.book->read().async_acquire(second.handler());
    shared.world.settle();
    shared.world.ensemble.start();
    REQUIRE(shared.world.run_until([&] { return shared.nodes("/book") == 3; }));
    writing.release();
    REQUIRE(shared.world.run_until_arrived(first));
    REQUIRE(shared.world.run_until_arrived(second));
    CHECK(second.result().node() != first.result().node());
    first.result().release();
    second.result().release();
  }
}

TEST_CASE("shared readers: one who gives up leaves the others their node, the last one takes it") {
  Shared shared;
  Lease writing = shared.acquire(shared.others_book->write());
  shared.world.settle();
  Kept::Place first;
  boost::asio::cancellation_signal cancel;
  shared.book->read().async_acquire(
      boost::asio::bind_cancellation_slot(cancel.slot(), first.handler()));
  Outcome<AcquireResult> late;
  shared.book->read().async_try_acquire_for(brief_limit, late.handler());
  shared.world.settle();
  CHECK(shared.nodes("/book") == 2);
  cancel.emit(boost::asio::cancellation_type::total);
  REQUIRE(shared.world.run_until_arrived(first));
  CHECK(first.error() == boost::asio::error::operation_aborted);
  CHECK(shared.nodes("/book") == 2);
  REQUIRE(shared.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK(late.result().reason == NotAcquired::blocked);
  REQUIRE(late.result().blocked_by);
  CHECK(late.result().blocked_by->node == writing.node());
  CHECK(shared.world.run_until([&] { return shared.nodes("/book") == 1; }));
  writing.release();
  shared.read().release();
}

TEST_CASE("shared readers: a waiting node that an operator deletes fails all of its readers") {
  Shared shared;
  Lease writing = shared.acquire(shared.others_book->write());
  auto first = shared.queue_reader();
  auto second = shared.queue_reader();
  for (const std::string& each : shared.world.ensemble.children("/book")) {
    if (each.find("__READ__") != std::string::npos) shared.world.remove("/book/" + each);
  }
  REQUIRE(shared.world.run_until_arrived(first));
  REQUIRE(shared.world.run_until_arrived(second));
  CHECK(first.error() == Errc::node_deleted);
  CHECK(second.error() == Errc::node_deleted);
  writing.release();
}

TEST_CASE("shared readers: those whose session ends queue again, together") {
  Shared shared;
  Lease writing = shared.acquire(shared.others_book->write());
  auto first = shared.queue_reader();
  auto second = shared.queue_reader();
  shared.world.ensemble.expire(shared.mine->session().id);
  REQUIRE(shared.world.run_until([&] { return shared.nodes("/book") == 2; }));
  shared.world.settle();
  writing.release();
  REQUIRE(shared.world.run_until_arrived(first));
  REQUIRE(shared.world.run_until_arrived(second));
  CHECK(first.result().node() == second.result().node());
  first.result().release();
  second.result().release();
}

TEST_CASE("shared readers: a close of the client ends all that wait") {
  Shared shared;
  Lease held = shared.read_settled();
  auto writer = shared.queue(shared.others_book->write());
  std::deque<Kept::Place> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(shared.queue_reader());
  Outcome<bool> closed;
  shared.mine->async_close(1s, closed.handler());
  shared.world.settle();
  held.release();
  for (auto& each : waiting) {
    REQUIRE(shared.world.run_until_arrived(each));
    CHECK(each.error() == Errc::closed);
  }
  REQUIRE(shared.world.run_until_arrived(closed));
  REQUIRE(shared.world.run_until_arrived(writer));
  writer.result().release();
  auto late = shared.queue_reader();
  REQUIRE(shared.world.run_until_arrived(late));
  CHECK(late.error() == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::shared_readers_end_test
