// Readers that share nodes (LockOptions::share_readers), with threads and real servers.

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "support/in_child.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::shared_readers_test {
namespace {

using namespace std::chrono_literals;

constexpr auto long_enough = 10min;

/// Another client of the same root.
Client another_client(TestClient& client) {
  ClientOptions options = options_for(client.servers());
  options.name_space = client.root();
  return Client{options};
}

/// Counts readers and writers inside, and notices a writer that is not alone.
class Room {
 public:
  void read() {
    ++readers_;
    if (writers_ != 0) broken_ = true;
    std::this_thread::yield();
    if (writers_ != 0) broken_ = true;
    --readers_;
  }
  void write() {
    if (++writers_ != 1 || readers_ != 0) broken_ = true;
    std::this_thread::yield();
    if (readers_ != 0) broken_ = true;
    --writers_;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::atomic<int> readers_ = 0;
  std::atomic<int> writers_ = 0;
  std::atomic<bool> broken_ = false;
};

TEST_CASE("shared readers: threads of two clients read together, and one writes alone") {
  TestClient client{"shared"};
  Client another = another_client(client);
  const auto keep = GENERATE(std::chrono::minutes{0}, std::chrono::minutes{long_enough});
  const LockOptions options{.keep_idle_for = keep, .share_readers = 16};
  Room room;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        const Client& mine = number % 2 == 0 ? *client : another;
        std::minstd_rand random{number + 1};
        InterProcessReadWriteLock lasting{mine, "/lock", options};
        for (int i = 0; i < 120; ++i) {
          try {
            // Every second acquire has a lock object of its own.
            std::optional<InterProcessReadWriteLock> own;
            if (random() % 2 == 0) own.emplace(mine, "/lock", options);
            InterProcessReadWriteLock& lock = own ? *own : lasting;
            const bool writes = random() % 5 == 0;
            InterProcessLock& side =
                writes ? static_cast<InterProcessLock&>(lock.write()) : lock.read();
            const auto way = random() % 8;
            Lease lease = way == 0   ? std::move(side.try_acquire().lease)
                          : way == 1 ? std::move(side.try_acquire_for(1ms).lease)
                                     : side.acquire();
            if (lease && writes) room.write();
            if (lease && !writes) room.read();
            if (random() % 4 == 0) std::this_thread::sleep_for(1ms);
          } catch (const Error&) {
            ++failures;
          }
        }
      });
    }
  }
  CHECK_FALSE(room.broken());
  CHECK(failures == 0);
  client->release_kept_locks();
  another.release_kept_locks();
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("shared readers: threads that read in a tight loop leave the lock to each writer") {
  TestClient client{"shared-loop"};
  Client another = another_client(client);
  const LockOptions options{.keep_idle_for = long_enough, .share_readers = 1'000'000'000};
  InterProcessReadWriteLock lock{*client, "/lock", options};
  InterProcessReadWriteLock others{another, "/lock"};
  Room room;
  std::atomic<long> turns = 0;
  std::atomic<bool> over = false;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&] {
      while (!over) {
        const std::shared_lock reading{lock};
        room.read();
        ++turns;
      }
    });
  }
  int writers_turns = 0;
  for (; writers_turns < 30; ++writers_turns) {
    const bool own = writers_turns % 2 == 0;
    AcquireResult turn = (own ? lock : others).write().try_acquire_for(patience);
    if (!turn) break;
    room.write();
    const long before = turns;
    turn.lease.release();
    if (!eventually([&] { return turns > before; })) break;
  }
  over = true;
  threads.clear();
  CHECK(writers_turns == 30);
  CHECK_FALSE(room.broken());
}

TEST_CASE("shared readers: two threads that read in turn need no servers") {
  TestClient client{"shared-two"};
  InterProcessReadWriteLock lock{
      *client, "/lock", {.keep_idle_for = long_enough, .share_readers = 1'000'000}};
  lock.read().acquire().release();
  REQUIRE(eventually([&] { return client->kept_locks() == 1; }));
  const FencingToken token = lock.read().acquire().token();
  std::atomic<bool> others = false;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 2; ++number) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) {
          const Lease lease = lock.read().acquire();
          if (lease.token().value != token.value) others = true;
        }
      });
    }
  }
  // A node was made anew only if the client was disconnected, or a minute had passed.
  if (client->connection_state() == ConnectionState::connected) CHECK_FALSE(others);
  CHECK(client->kept_locks() == 1);
}

TEST_CASE("shared readers: a downgrade beside readers that share") {
  TestClient client{"shared-downgrade"};
  InterProcessReadWriteLock lock{*client, "/lock", {.share_readers = 16}};
  Room room;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 20; ++i) {
        if (number % 2 == 0) {
          const std::shared_lock reading{lock};
          room.read();
        } else {
          lock.lock();
          room.write();
          lock.lock_shared();
          lock.unlock();
          room.read();
          lock.unlock_shared();
        }
      }
    });
  }
  threads.clear();
  CHECK_FALSE(room.broken());
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE(
    "shared readers: a thread that has lost the write lock is given no kept read lock instead") {
  TestClient client{"shared-lost"};
  InterProcessReadWriteLock lock{
      *client, "/lock", {.keep_idle_for = long_enough, .share_readers = 16}};
  lock.lock();
  const Lease writing = lock.write().current_lease();
  client->remove(writing.node());
  REQUIRE(eventually([&] { return writing.state() == LeaseState::lost; }));
  const auto token = [&] { return lock.read().acquire().token().value; };
  auto is_kept = std::async(std::launch::async,
                            [&] { return eventually([&] { return token() == token(); }); });
  REQUIRE(is_kept.get());
  CHECK(error_of([&] { lock.lock_shared(); }) == Errc::lock_lost);
  CHECK(error_of([&] { static_cast<void>(lock.try_lock_shared()); }) == Errc::lock_lost);
}

TEST_CASE("shared readers: in a forked child nobody joins, and the parent reads on") {
  TestClient client{"shared-fork"};
  auto lock = std::make_unique<InterProcessReadWriteLock>(
      *client, "/lock", LockOptions{.keep_idle_for = long_enough, .share_readers = 16});
  const Lease held = lock->read().acquire();
  const auto before = client->children("/lock").names;

  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { static_cast<void>(lock->read().acquire()); }) == Errc::forked &&
        error_of([&] { static_cast<void>(lock->read().try_acquire()); }) == Errc::forked &&
        error_of([&] { lock->lock_shared(); }) == Errc::forked;
    lock.reset();
    return refused;
  }));
  CHECK(client->children("/lock").names == before);
  CHECK(eventually([&] { return lock->read().acquire().node() == held.node(); }));
}

}  // namespace
}  // namespace custodian::tests::shared_readers_test
