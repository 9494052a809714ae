// Threads of two clients; those of one client pass the lock on among themselves (HandOff::cohort).

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "support/in_child.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::batch_test {
namespace {

using namespace std::chrono_literals;

/// State that only the lock protects.
struct Guarded {
  int inside = 0;
  int visits = 0;
  FencingToken last{};
};

/// Returns false if the lock was granted to two at once, or if the token did not grow.
bool visit(Guarded& guarded, const Lease& lease) {
  const bool alone = guarded.inside++ == 0;
  const bool later = lease.token() > guarded.last;
  guarded.last = lease.token();
  ++guarded.visits;
  --guarded.inside;
  return alone && later;
}

/// Acquires in one of the ways that users have; returns an empty lease if the acquire was late or
/// cancelled.
Lease acquire_somehow(InterProcessMutex& mutex, unsigned way) {
  if (way % 8 == 0) return std::move(mutex.try_acquire_for(1ms).lease);
  if (way % 8 == 1) return std::move(mutex.try_acquire_for(patience).lease);
  if (way % 8 == 2) return std::move(mutex.try_acquire().lease);
  if (way % 8 != 3) return mutex.acquire();
  std::stop_source stop;
  const std::jthread stops{[&] { stop.request_stop(); }};
  try {
    return mutex.acquire(stop.get_token());
  } catch (const Error& error) {
    if (error.code() != boost::asio::error::operation_aborted) throw;
    return {};
  }
}

TEST_CASE("batch: threads of two clients are never in the lock at once, whichever way they come") {
  TestClient client{"batch"};
  ClientOptions options = options_for(client.servers());
  options.name_space = client.root();
  Client another{options};
  // A try does not wait for the connection.
  client->wait_connected();
  another.wait_connected();
  std::array<InterProcessMutex, 2> mutexes{
      InterProcessMutex{*client, "/lock", {.hand_off = HandOff::cohort(8)}},
      InterProcessMutex{another, "/lock", {.hand_off = HandOff::cohort(8)}}};
  Guarded guarded;
  std::atomic<int> visits = 0;
  std::atomic<int> violations = 0;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        std::minstd_rand random{number + 1};
        for (int i = 0; i < 60; ++i) {
          try {
            Lease lease = acquire_somehow(mutexes.at(number % 2), static_cast<unsigned>(random()));
            if (!lease) continue;
            if (!visit(guarded, lease)) ++violations;
            ++visits;
          } catch (const Error&) {
            ++failures;
          }
        }
      });
    }
  }
  CHECK(violations == 0);
  CHECK(failures == 0);
  CHECK(guarded.visits == visits);
  CHECK(visits > 8 * 20);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("batch: std::scoped_lock passes it on, and a thread may lock again what it has locked") {
  TestClient client{"batch-standard"};
  InterProcessMutex mutex{*client, "/lock", {.hand_off = HandOff::cohort(16)}};
  int inside = 0;
  std::atomic<int> violations = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const std::scoped_lock guard{mutex};
          const std::scoped_lock again{mutex};
          if (inside++ != 0 || mutex.hold_count() != 2) ++violations;
          --inside;
        }
      });
    }
  }
  CHECK(violations == 0);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("batch: threads that pass the lock on all end when their client is closed") {
  TestClient client{"batch-close"};
  InterProcessMutex mutex{*client, "/lock", {.hand_off = HandOff::cohort(1'000)}};
  std::atomic<int> turns = 0;
  std::atomic<int> closed = 0;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      try {
        for (;;) {
          const Lease lease = mutex.acquire();
          ++turns;
        }
      } catch (const Error& error) {
        if (error.code() == Errc::closed) ++closed;
      }
    });
  }
  REQUIRE(eventually([&] { return turns > 100; }));
  CHECK(client->close(patience));
  threads.clear();
  CHECK(closed == 4);
}

TEST_CASE("batch: in a forked child nobody is passed the lock, and those of its parent go on") {
  TestClient client{"batch-fork"};
  auto mutex = std::make_unique<InterProcessMutex>(*client, "/lock",
                                                   LockOptions{.hand_off = HandOff::cohort(4)});
  Lease held = mutex->acquire();
  std::atomic<bool> had = false;
  std::jthread waits{[&, also = mutex.get()] {
    const Lease lease = also->acquire();
    had = lease.state() == LeaseState::held;
  }};
  const auto nodes = [&] { return names_below(*client, "/lock"); };
  REQUIRE(eventually([&] { return nodes().size() == 2; }));
  const auto before = nodes();

  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { static_cast<void>(mutex->acquire()); }) == Errc::forked &&
        error_of([&] { static_cast<void>(mutex->try_acquire_for(1ms)); }) == Errc::forked;
    held = Lease{};
    mutex.reset();
    return refused;
  }));
  CHECK(nodes() == before);
  held.release();
  waits.join();
  CHECK(had);
  CHECK(eventually([&] { return nodes().empty(); }));
}

TEST_CASE("batch: readers come in between writers that pass the lock on") {
  TestClient client{"batch-writers"};
  InterProcessReadWriteLock lock{*client, "/lock", {.hand_off = HandOff::cohort(4)}};
  int written = 0;
  std::atomic<int> violations = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 6; ++number) {
      threads.emplace_back([&, reads = number % 3 == 0] {
        for (int i = 0; i < 40; ++i) {
          if (reads) {
            const std::shared_lock guard{lock};
            const int before = written;
            std::this_thread::yield();
            if (written != before) ++violations;
          } else {
            const std::scoped_lock guard{lock};
            ++written;
          }
        }
      });
    }
  }
  CHECK(violations == 0);
  CHECK(written == 4 * 40);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

}  // namespace
}  // namespace custodian::tests::batch_test
