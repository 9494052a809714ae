// A reader's node that stays when the last reader has released it: LockOptions::share_readers with
// keep_idle_for.

#include <boost/asio/post.hpp>

#include "kept/kept_record.hpp"
#include "kept/shared_readers.hpp"
#include "ordering/lock_spec.hpp"
#include "scripted/kept/shared.hpp"

namespace custodian::tests::shared_readers_kept_test {

using namespace std::chrono_literals;
using recipes_detail::KeptRecord;
using Kinds = std::vector<std::string>;

namespace {

struct KeptReaders : Shared {
  explicit KeptReaders(LockOptions of_lock = {.keep_idle_for = a_minute, .share_readers = 64})
      : Shared{std::move(of_lock)} {}
  void keep_reader() {
    read().release();
    world.settle();
    REQUIRE(mine->kept_locks() == 1);
    world.ensemble.clear_history();
  }
};

TEST_CASE("kept readers: the next reader has the lock without a word to the servers") {
  KeptReaders kept;
  kept.keep_reader();
  for (std::int64_t grant = 1; grant < 4; ++grant) {
    Lease next = kept.read();
    CHECK(kept.mine->kept_locks() == 0);
    CHECK(next.token().grant == grant);
    next.release();
    CHECK(kept.mine->kept_locks() == 1);
  }
  CHECK(kept.asked().empty());
}

TEST_CASE("kept readers: readers elsewhere do not end that (LISTED_AGAIN)") {
  KeptReaders kept;
  kept.keep_reader();
  const std::string node = kept.world.ensemble.children("/book").front();
  Lease others = kept.acquire(kept.others_book->read());
  CHECK(kept.mine->kept_locks() == 1);
  // The queue is listed again, once in 10 ms.
  REQUIRE(kept.world.run_until([&] { return !kept.asked().empty(); }));
  kept.world.settle();
  CHECK(kept.asked() == Kinds{"children"});
  Lease next = kept.read();
  CHECK(next.node() == "/book/" + node);
  CHECK(kept.asked() == Kinds{"children"});
  next.release();
  others.release();
}

TEST_CASE("kept readers: a queue that changes all the time is not listed all the time") {
  KeptReaders kept;
  kept.keep_reader();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) {
    kept.acquire(kept.others_book->read()).release();
    kept.world.settle();
  }
  const auto passed = std::chrono::steady_clock::now() - began;
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(std::ranges::count(kept.asked(), "children") <= passed / 10ms + 2);
}

TEST_CASE("kept readers: a writer elsewhere has the lock as soon as it asks") {
  KeptReaders kept;
  kept.keep_reader();
  auto writer = kept.queue(kept.others_book->write());
  REQUIRE(kept.world.run_until_arrived(writer));
  CHECK(kept.mine->kept_locks() == 0);
  writer.result().release();
}

TEST_CASE("kept readers: what a writer waits for is not kept") {
  KeptReaders kept;
  kept.keep_reader();
  Lease reading = kept.read();
  auto writer = kept.queue(kept.others_book->write());
  reading.release();
  CHECK(kept.world.run_until_arrived(writer));
  CHECK(kept.mine->kept_locks() == 0);
  writer.result().release();
}

TEST_CASE("kept readers: a writer of the client goes first, and does not wait for a listing") {
  KeptReaders kept;
  kept.keep_reader();
  kept.acquire(kept.book->write()).release();
  CHECK(kept.asked().front() == "remove");
  kept.world.settle();
  // Now the writer's node is kept. A reader ends that, and is kept in its place.
  CHECK(kept.mine->kept_locks() == 1);
  kept.read().release();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 1);
  CHECK(kept.world.run_until([&] { return kept.nodes("/book") == 1; }));
}

TEST_CASE("kept readers: what is not used for so long is given back, and so is what is old") {
  KeptReaders kept{{.keep_idle_for = 60ms, .share_readers = 64}};
  kept.keep_reader();
  SECTION("not used") {
    CHECK(kept.world.run_until([&] { return kept.mine->kept_locks() == 0; }));
  }
  SECTION("old") {
    const auto& readers = kept.book->read().spec()->readers;
    CHECK(readers->sweep(std::chrono::steady_clock::now() + 2 * KeptRecord::longest));
    CHECK(kept.mine->kept_locks() == 0);
  }
  SECTION("old, and held: it goes with the last release") {
    Lease reading = kept.read();
    const auto& readers = kept.book->read().spec()->readers;
    CHECK(readers->sweep(std::chrono::steady_clock::now() + 2 * KeptRecord::longest));
    Lease next = kept.read();
    CHECK(next.node() != reading.node());
    CHECK(reading.state() == LeaseState::held);
  }
  CHECK(kept.world.run_until([&] { return kept.nodes("/book") <= 2; }));
}

TEST_CASE("kept readers: what is not used for another minute is forgotten, unless somebody waits") {
  KeptReaders kept;
  kept.keep_reader();
  const auto& readers = kept.book->read().spec()->readers;
  const auto now = std::chrono::steady_clock::now();
  CHECK(readers->sweep(now + KeptRecord::longest));
  CHECK(kept.mine->kept_locks() == 0);
  kept.settle_book();
  Lease writing = kept.acquire(kept.others_book->write());
  auto waiting = kept.queue_reader();
  for (const int minutes : {4, 6, 8}) CHECK(readers->sweep(now + minutes * KeptRecord::longest));
  writing.release();
  REQUIRE(kept.world.run_until_arrived(waiting));
  waiting.result().release();
  kept.mine->release_kept_locks();
  CHECK(readers->sweep(now + 10 * KeptRecord::longest));  // which sees that it was used
  CHECK_FALSE(readers->sweep(now + 12 * KeptRecord::longest));
}

TEST_CASE("kept readers: nothing is kept of a connection or a session that is gone") {
  KeptReaders kept;
  kept.keep_reader();
  SECTION("a connection") {
    kept.world.ensemble.stop();
    REQUIRE(kept.world.run_until(
        [&] { return kept.mine->connection_state() == ConnectionState::suspended; }));
    CHECK(kept.mine->kept_locks() == 0);
    kept.world.ensemble.start();
  }
  SECTION("a session") {
    kept.world.ensemble.expire(kept.mine->session().id);
    REQUIRE(kept.world.run_until([&] { return kept.mine->kept_locks() == 0; }));
  }
  SECTION("a node that an operator deletes") {
    kept.world.remove("/book/" + kept.world.ensemble.children("/book").front());
    kept.world.settle();
    kept.mine->release_kept_locks();
    kept.world.settle();
  }
  Lease next = kept.read();
  CHECK(next.token().grant == 0);
  CHECK(next.state() == LeaseState::held);
  next.release();
}

TEST_CASE("kept readers: participants() says which node has no reader") {
  KeptReaders kept;
  kept.keep_reader();
  const auto idle_nodes = [&] {
    const auto all = run<std::vector<Participant>>(
        kept.world, [&](auto done) { kept.book->read().async_participants({}, done); });
    return std::ranges::count_if(all.result(), [](const auto& each) { return each.idle; });
  };
  CHECK(idle_nodes() == 1);
  Lease reading = kept.read();
  CHECK(idle_nodes() == 0);
}

TEST_CASE("kept readers: all are given back on demand") {
  KeptReaders kept;
  kept.keep_reader();
  kept.mine->release_kept_locks();
  kept.world.settle();
  CHECK(kept.mine->kept_locks() == 0);
  CHECK(kept.nodes("/book") == 0);
}

TEST_CASE("kept readers: where writers come again and again, the node is not kept for a while") {
  KeptReaders kept;
  int rounds_kept = 0;
  for (int i = 0; i < 20; ++i) {
    kept.read().release();
    kept.world.settle();
    rounds_kept += static_cast<int>(kept.mine->kept_locks());
    auto writer = kept.queue(kept.others_book->write());
    REQUIRE(kept.world.run_until_arrived(writer));
    writer.result().release();
    REQUIRE(kept.world.run_until([&] { return kept.nodes("/book") == 0; }));
    kept.world.settle();
  }
  CHECK(rounds_kept == 4);  // before rows of 1, 3, 7 and 15 that are not kept
}

TEST_CASE("kept readers: a client that may keep none shares nevertheless") {
  Shared shared{{.keep_idle_for = a_minute, .share_readers = 64}};
  ClientOptions options = shared.world.options("none");
  options.max_kept_locks = 0;
  auto client = shared.world.client(std::move(options));
  {
    InterProcessReadWriteLock lock{*client, "/book", shared.options};
    Lease first = shared.acquire(lock.read());
    shared.world.settle();
    Lease second = shared.acquire(lock.read());
    CHECK(first.node() == second.node());
    first.release();
    second.release();
    shared.world.settle();
    CHECK(client->kept_locks() == 0);
  }
  CHECK(shared.world.run_until_idle(*client));
  CHECK(shared.world.end(client));
}

}  // namespace
}  // namespace custodian::tests::shared_readers_kept_test
