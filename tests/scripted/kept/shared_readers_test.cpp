// Readers of one client that share a node (LockOptions::share_readers). Names in capitals are the
// guards of docs/model/shared_readers.pml.

#include "kept/shared_readers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <set>
#include <thread>

#include "custodian/locks/with_lock.hpp"
#include "ordering/lock_spec.hpp"
#include "scripted/kept/shared.hpp"

namespace custodian::tests::shared_readers_test {

using namespace std::chrono_literals;

namespace {

TEST_CASE(
    "shared readers: one that comes while another one holds has its node, without a request") {
  Shared shared;
  Lease first = shared.read_settled();
  Lease second = shared.read();
  CHECK(shared.asked().empty());
  CHECK(second.node() == first.node());
  CHECK(second.token() == FencingToken{first.token().epoch, first.token().value, 1});
  CHECK(second.state() == LeaseState::held);
  CHECK(shared.nodes("/book") == 1);
  // A lock object that is made later finds it, and so does with_lock().
  InterProcessReadWriteLock later{*shared.mine, "/book", shared.options};
  Lease third = shared.acquire(later.read());
  CHECK(third.node() == first.node());
  bool done = false;
  std::jthread{[&] {
    static_cast<void>(with_lock(*shared.mine, "/book",
                                {.kind = LockKind::read, .lock = shared.options},
                                [&] { done = true; }));
  }}.join();
  CHECK(done);
  CHECK(shared.asked().empty());
  first.release();
  second.release();
  third.release();
}

TEST_CASE("shared readers: the node goes with the last of its readers (LAST_HOLD)") {
  Shared shared;
  Lease first = shared.read_settled();
  Lease second = shared.read();
  auto writer = shared.queue(shared.others_book->write());
  first.release();
  CHECK_FALSE(shared.holds(writer));
  CHECK(second.state() == LeaseState::held);
  second.release();
  REQUIRE(shared.holds(writer));
  writer.result().release();
}

TEST_CASE("shared readers: a node serves no more acquires than it may (SHARE_LIMIT)") {
  Shared shared{{.share_readers = 3}};
  std::deque<Lease> held;
  for (int i = 0; i < 7; ++i) {
    held.push_back(shared.read());
    shared.world.settle();
  }
  CHECK(held[2].node() == held[0].node());
  CHECK(held[3].node() != held[0].node());
  CHECK(held[5].node() == held[3].node());
  CHECK(shared.nodes("/book") == 3);
}

TEST_CASE("shared readers: one is the default, and shares nothing") {
  Shared shared{LockOptions{}};
  Lease first = shared.read_settled();
  Lease second = shared.read();
  CHECK(second.node() != first.node());
}

TEST_CASE("shared readers: one that comes after a writer elsewhere waits for it (READERS_WATCH)") {
  Shared shared;
  Lease first = shared.read_settled();
  auto writer = shared.queue(shared.others_book->write());
  auto second = shared.queue_reader();
  CHECK_FALSE(second.arrived());
  first.release();
  REQUIRE(shared.holds(writer));
  CHECK_FALSE(second.arrived());
  writer.result().release();
  REQUIRE(shared.holds(second));
  second.result().release();
}

TEST_CASE("shared readers: what a writer stands behind at first is not joined (BEHIND_WRITERS)") {
  Shared shared;
  // The writer comes before the listing that travels with the reader's create is answered.
  Kept::Place first;
  Kept::Place writer;
  shared.book->read().async_acquire(first.handler());
  shared.others_book->write().async_acquire(writer.handler());
  shared.world.settle();
  REQUIRE(first.arrived() != writer.arrived());
  auto second = shared.queue_reader();
  const bool reads_first = first.arrived();
  if (reads_first) {
    CHECK_FALSE(second.arrived());
    first.result().release();
    REQUIRE(shared.holds(writer));
    CHECK_FALSE(second.arrived());
  }
  writer.result().release();
  if (!reads_first) {
    REQUIRE(shared.holds(first));
    first.result().release();
  }
  REQUIRE(shared.holds(second));
  second.result().release();
}

TEST_CASE("shared readers: one that comes after a writer of the client waits for it (OWN_WRITER)") {
  Shared shared;
  Lease first = shared.read_settled();
  Kept::Place writer;
  Kept::Place second;
  // Nothing is reported in between.
  shared.book->write().async_acquire(writer.handler());
  boost::asio::post(shared.world.context,
                    [&] { shared.book->read().async_acquire(second.handler()); });
  shared.world.settle();
  CHECK_FALSE(second.arrived());
  first.release();
  REQUIRE(shared.holds(writer));
  CHECK_FALSE(second.arrived());
  writer.result().release();
  REQUIRE(shared.holds(second));
  second.result().release();
}

TEST_CASE("shared readers: a listing before a writer of the client is not believed (OUTRUN)") {
  Shared shared;
  Kept::Place first;
  Kept::Place writer;
  shared.book->read().async_acquire(first.handler());
  shared.book->write().async_acquire(writer.handler());
  // Whenever a reader comes, it comes after the writer.
  const auto& readers = shared.book->read().spec()->readers;
  shared.world.context.restart();
  bool joined = false;
  while (shared.world.context.poll_one() > 0) {
    const Lease taken = readers->take();
    joined = joined || taken;
  }
  CHECK_FALSE(joined);
  REQUIRE(first.arrived());
  auto second = shared.queue_reader();
  CHECK_FALSE(second.arrived());
  first.result().release();
  REQUIRE(shared.holds(writer));
  CHECK_FALSE(second.arrived());
  writer.result().release();
  REQUIRE(shared.holds(second));
  second.result().release();
}

TEST_CASE("shared readers: nobody shares the node of a downgrade (BESIDE)") {
  Shared shared;
  Lease writing = shared.acquire(shared.book->write());
  auto beside = run<Lease>(shared.world,
                           [&](auto done) { shared.book->read().async_acquire(writing, done); });
  REQUIRE_FALSE(beside.error());
  auto second = shared.queue_reader();
  CHECK_FALSE(second.arrived());
  writing.release();
  REQUIRE(shared.holds(second));
  CHECK(second.result().node() != beside.result().node());
  second.result().release();
  beside.result().release();
}

TEST_CASE("shared readers: those that wait share a node, and all have it together") {
  Shared shared;
  Lease writing;
  SECTION("behind another client's writer") {
    writing = shared.acquire(shared.others_book->write());
  }
  SECTION("behind a writer of the client") { writing = shared.acquire(shared.book->write()); }
  shared.world.settle();
  std::deque<Kept::Place> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(shared.queue_reader());
  CHECK(shared.nodes("/book") == 2);
  writing.release();
  std::set<std::int64_t> grants;
  for (auto& each : waiting) {
    REQUIRE(shared.holds(each));
    grants.insert(each.result().token().grant);
  }
  CHECK(grants.size() == 5);
  for (auto& each : waiting) each.result().release();
}

TEST_CASE("shared readers: a node that waits is listed again when a reader comes, not before") {
  Shared shared;
  Lease writing = shared.acquire(shared.others_book->write());
  auto first = shared.queue_reader();
  shared.world.settle();
  shared.world.ensemble.clear_history();
  for (int i = 0; i < 5; ++i) {
    const auto declined = run<AcquireResult>(
        shared.world, [&](auto done) { shared.others_book->read().async_try_acquire(done); });
    CHECK_FALSE(declined.result());
  }
  shared.pass(30ms);
  CHECK(shared.asked().empty());
  auto second = shared.queue_reader();
  CHECK(shared.asked() == std::vector<std::string>{"children"});
  CHECK(shared.nodes("/book") == 2);
  writing.release();
  REQUIRE(shared.holds(first));
  REQUIRE(shared.holds(second));
  CHECK(second.result().node() == first.result().node());
  first.result().release();
  second.result().release();
}

TEST_CASE("shared readers: a node that a writer has stood behind is not joined again") {
  Shared shared;
  Lease first = shared.read_settled();
  Kept::Place writer;
  boost::asio::cancellation_signal cancel;
  shared.others_book->write().async_acquire(
      boost::asio::bind_cancellation_slot(cancel.slot(), writer.handler()));
  // The queue was listed within the last 10 ms, maybe.
  shared.world.settle();
  auto second = shared.queue_reader();
  cancel.emit(boost::asio::cancellation_type::total);
  REQUIRE(shared.world.run_until_arrived(writer));
  REQUIRE(shared.holds(second));
  CHECK(second.result().node() != first.node());
  Lease third = shared.read();
  CHECK(third.node() == second.result().node());
  second.result().release();
}

TEST_CASE("shared readers: the first ones at a new path share a node") {
  Shared shared;
  InterProcessReadWriteLock fresh{*shared.mine, "/new/book", shared.options};
  Kept::Place first;
  Kept::Place second;
  fresh.read().async_acquire(first.handler());
  fresh.read().async_acquire(second.handler());
  REQUIRE(shared.world.run_until_arrived(first));
  REQUIRE(shared.world.run_until_arrived(second));
  CHECK(second.result().node() == first.result().node());
  first.result().release();
  second.result().release();
  CHECK(shared.world.run_until([&] { return shared.nodes("/new/book") == 0; }));
}

TEST_CASE("shared readers: those that come together share a node") {
  Shared shared;
  std::deque<Kept::Place> waiting(8);
  for (auto& each : waiting) shared.book->read().async_acquire(each.handler());
  for (auto& each : waiting) {
    REQUIRE(shared.world.run_until_arrived(each));
    CHECK(each.result().node() == waiting.front().result().node());
  }
  CHECK(shared.nodes("/book") == 1);
  for (auto& each : waiting) each.result().release();
}

TEST_CASE("shared readers: readers and writers of a client take turns") {
  Shared shared;
  std::deque<Kept::Place> readers;
  std::deque<Kept::Place> writers;
  Lease first = shared.read_settled();
  for (int i = 0; i < 3; ++i) {
    writers.push_back(shared.queue(shared.book->write()));
    readers.push_back(shared.queue_reader());
    readers.push_back(shared.queue_reader());
  }
  first.release();
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(shared.holds(writers[i]));
    CHECK_FALSE(readers[2 * i].arrived());
    writers[i].result().release();
    REQUIRE(shared.holds(readers[2 * i]));
    REQUIRE(shared.holds(readers[2 * i + 1]));
    CHECK(readers[2 * i].result().node() == readers[2 * i + 1].result().node());
    readers[2 * i].result().release();
    readers[2 * i + 1].result().release();
  }
}

TEST_CASE("shared readers: an acquire with wishes of its own has a node of its own") {
  Shared shared;
  Lease first = shared.read_settled();
  Outcome<AcquireResult> tried;
  SECTION("a maximum time") {
    shared.book->read().async_try_acquire({.lease = {.hold_at_most = 1h}}, tried.handler());
  }
  SECTION("a loss policy") {
    shared.book->read().async_try_acquire({.lease = {.loss_policy = LossPolicy::on_suspended}},
                                          tried.handler());
  }
  SECTION("another identity") {
    InterProcessReadWriteLock another{
        *shared.mine, "/book", {.identity = "another", .share_readers = 64}};
    another.read().async_try_acquire(tried.handler());
  }
  REQUIRE(shared.world.run_until_arrived(tried));
  REQUIRE(tried.result());
  CHECK(tried.result().lease.node() != first.node());
  tried.result().lease.release();
}

TEST_CASE("shared readers: a try joins a node that is held, and waits for none") {
  Shared shared;
  Lease first = shared.read_settled();
  const auto tried = run<AcquireResult>(
      shared.world, [&](auto done) { shared.book->read().async_try_acquire(done); });
  REQUIRE(tried.result());
  CHECK(tried.result().lease.node() == first.node());
  CHECK(shared.asked().empty());
  tried.result().lease.release();
  auto writer = shared.queue(shared.others_book->write());
  auto waiting = shared.queue_reader();
  const auto declined = run<AcquireResult>(
      shared.world, [&](auto done) { shared.book->read().async_try_acquire(done); });
  CHECK_FALSE(declined.result());
  CHECK(declined.result().reason == NotAcquired::blocked);
  first.release();
  REQUIRE(shared.holds(writer));
  writer.result().release();
  REQUIRE(shared.holds(waiting));
  waiting.result().release();
}

TEST_CASE("shared readers: what makes no sense is refused where it is asked for") {
  Shared shared;
  CHECK_THROWS_AS((InterProcessReadWriteLock{*shared.mine, "/a", {.share_readers = 0}}), Error);
  CHECK_THROWS_AS((InterProcessReadWriteLock{
                      *shared.mine, "/a", {.lease = {.hold_at_most = 1s}, .share_readers = 2}}),
                  Error);
}

}  // namespace
}  // namespace custodian::tests::shared_readers_test
