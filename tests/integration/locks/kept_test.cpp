// Locks that a client keeps (LockOptions::keep_idle_for), with threads and real servers.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "support/in_child.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::kept_test {
namespace {

using namespace std::chrono_literals;

constexpr auto long_enough = 10min;

/// Another client of the same root.
Client another_client(TestClient& client) {
  ClientOptions options = options_for(client.servers());
  options.name_space = client.root();
  return Client{options};
}

/// State that only the lock protects.
struct Guarded {
  int inside = 0;
  FencingToken last{};
  /// Returns false if the lock was granted to two at once, or if the token did not grow.
  bool visit(const Lease& lease) {
    const bool alone = inside++ == 0;
    const bool later = lease.token() > last;
    last = lease.token();
    --inside;
    return alone && later;
  }
};

TEST_CASE("kept: threads of two clients that keep one lock are never in it at once") {
  TestClient client{"kept"};
  Client another = another_client(client);
  const HandOff hand_off = GENERATE(HandOff::strict(), HandOff::cohort(8));
  const LockOptions options{.hand_off = hand_off, .keep_idle_for = long_enough};
  Guarded guarded;
  std::atomic<int> violations = 0;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        const Client& mine = number % 2 == 0 ? *client : another;
        std::minstd_rand random{number + 1};
        InterProcessMutex lasting{mine, "/lock", options};
        for (int i = 0; i < 80; ++i) {
          try {
            // Half of the acquires have a lock object of their own.
            std::optional<InterProcessMutex> own;
            if (random() % 2 == 0) own.emplace(mine, "/lock", options);
            InterProcessMutex& mutex = own ? *own : lasting;
            const auto way = random() % 8;
            Lease lease = way == 0   ? std::move(mutex.try_acquire().lease)
                          : way == 1 ? std::move(mutex.try_acquire_for(1ms).lease)
                                     : mutex.acquire();
            if (lease && !guarded.visit(lease)) ++violations;
            lease.release();
            if (random() % 16 == 0) std::this_thread::sleep_for(2ms);
          } catch (const Error&) {
            ++failures;
          }
        }
      });
    }
  }
  CHECK(violations == 0);
  CHECK(failures == 0);
  client->release_kept_locks();
  another.release_kept_locks();
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("kept: threads that take a lock in a tight loop leave it to another client each time") {
  TestClient client{"kept-loop"};
  Client another = another_client(client);
  const LockOptions options{.keep_idle_for = long_enough};
  InterProcessMutex mutex{*client, "/lock", options};
  InterProcessMutex others_mutex{another, "/lock"};
  Guarded guarded;
  std::atomic<int> violations = 0;
  std::atomic<long> turns = 0;
  std::atomic<bool> over = false;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&] {
      while (!over) {
        const Lease lease = mutex.acquire();
        if (!guarded.visit(lease)) ++violations;
        ++turns;
      }
    });
  }
  // The other client may be the first that is connected, and have many turns before the threads
  // have any.
  const Deadline end{patience};
  int others_turns = 0;
  for (; (others_turns < 30 || turns <= 30) && !end.passed(); ++others_turns) {
    AcquireResult turn = others_mutex.try_acquire_for(patience);
    if (!turn) break;
    if (!guarded.visit(turn.lease)) ++violations;
  }
  over = true;
  threads.clear();
  CHECK(others_turns >= 30);
  CHECK(violations == 0);
  CHECK(turns > 30);
}

TEST_CASE("kept: two threads that take one lock in turn need no servers") {
  TestClient client{"kept-two"};
  InterProcessMutex mutex{*client, "/lock", {.keep_idle_for = long_enough}};
  mutex.acquire().release();
  REQUIRE(client->kept_locks() == 1);
  const FencingToken token = mutex.acquire().token();
  std::atomic<bool> others = false;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 2; ++number) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) {
          const Lease lease = mutex.acquire();
          if (lease.token().value != token.value) others = true;
        }
      });
    }
  }
  // The lock has a new node only if the client was disconnected, or if a minute had passed.
  if (client->connection_state() == ConnectionState::connected) CHECK_FALSE(others);
  CHECK(client->kept_locks() == 1);
}

TEST_CASE("kept: the standard face keeps a write lock, and readers have their turn") {
  TestClient client{"kept-write"};
  Client another = another_client(client);
  InterProcessReadWriteLock lock{*client, "/lock", {.keep_idle_for = long_enough}};
  InterProcessReadWriteLock others{another, "/lock"};
  for (int i = 0; i < 3; ++i) {
    // The node of a reader of the round before may still be in front: the lock is then not kept.
    CHECK(eventually([&] {
      lock.lock();
      lock.unlock();
      return client->kept_locks() == 1;
    }));
    const std::shared_lock own{lock};
    const std::shared_lock other{others};
    CHECK(client->kept_locks() == 0);
  }
}

TEST_CASE("kept: a client that is closed leaves no node, and another one has the lock at once") {
  TestClient client{"kept-close"};
  {
    Client keeper = another_client(client);
    for (int i = 0; i < 50; ++i) {
      InterProcessMutex mutex{
          keeper, "/locks/" + std::to_string(i), {.keep_idle_for = long_enough}};
      mutex.acquire().release();
    }
    CHECK(keeper.kept_locks() == 50);
    CHECK(keeper.close(patience));
    CHECK(keeper.kept_locks() == 0);
  }
  for (int i = 0; i < 50; i += 7) {
    InterProcessMutex mutex{*client, "/locks/" + std::to_string(i)};
    const AcquireResult tried = mutex.try_acquire();
    CHECK(tried);
  }
}

TEST_CASE("kept: in a forked child a kept lock is not taken, and the parent keeps it") {
  TestClient client{"kept-fork"};
  auto mutex = std::make_unique<InterProcessMutex>(*client, "/lock",
                                                   LockOptions{.keep_idle_for = long_enough});
  mutex->acquire().release();
  REQUIRE(client->kept_locks() == 1);
  const auto before = client->children("/lock").names;

  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { static_cast<void>(mutex->acquire()); }) == Errc::forked &&
        error_of([&] { static_cast<void>(mutex->try_acquire()); }) == Errc::forked &&
        error_of([&] { mutex->lock(); }) == Errc::forked;
    client->release_kept_locks();
    mutex.reset();
    return refused;
  }));
  CHECK(client->kept_locks() == 1);
  CHECK(client->children("/lock").names == before);
  CHECK(mutex->acquire().token().grant == 1);
}

TEST_CASE("kept: more locks than may be kept are given back while threads use them") {
  TestClient client{"kept-many"};
  ClientOptions options = options_for(client.servers());
  options.name_space = client.root();
  options.max_kept_locks = 5;
  Client keeper{options};
  std::array<Guarded, 20> guarded;
  std::atomic<int> violations = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 0; number < 4; ++number) {
      threads.emplace_back([&, number] {
        std::minstd_rand random{number + 1};
        for (int i = 0; i < 200; ++i) {
          const std::size_t which = random() % guarded.size();
          InterProcessMutex mutex{
              keeper, "/locks/" + std::to_string(which), {.keep_idle_for = long_enough}};
          const Lease lease = mutex.acquire();
          if (!guarded.at(which).visit(lease)) ++violations;
        }
      });
    }
  }
  CHECK(violations == 0);
  CHECK(eventually([&] { return keeper.kept_locks() <= 5; }));
  CHECK(keeper.kept_locks() > 0);
}

}  // namespace
}  // namespace custodian::tests::kept_test
