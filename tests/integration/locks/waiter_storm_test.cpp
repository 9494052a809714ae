/// \file
/// Thousands of waiters that are cancelled, or run out of time, at any step of their acquire.

#include <malloc.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <random>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::waiter_storm_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// The outcomes of some waiters.
struct Tally {
  std::atomic<int> ended = 0;
  std::atomic<int> granted = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> late = 0;
  std::atomic<int> never_queued = 0;
  std::atomic<int> other = 0;

  void count(error_code error, const AcquireResult& result) {
    if (result) {
      ++granted;
    } else if (!error && result.reason == NotAcquired::blocked) {
      ++late;
    } else if (!error) {
      ++never_queued;
    } else if (error == asio::error::operation_aborted) {
      ++cancelled;
    } else {
      ++other;
    }
    ++ended;
  }
};

/// Starts `count` acquires that cannot succeed, and ends each at a random moment: from before its
/// create is sent until long after it has queued.
void storm(Client& client, int count, std::chrono::microseconds longest, unsigned seed,
           Tally& tally) {
  InterProcessMutex mutex{client, "/lock"};
  std::minstd_rand random{seed};
  constexpr int at_once = 20;
  for (int done = 0; done < count; done += at_once) {
    std::vector<std::unique_ptr<asio::cancellation_signal>> signals;
    std::atomic<int> ended = 0;
    for (int i = 0; i < at_once; ++i) {
      const auto finish = [&](error_code error, AcquireResult result) {
        tally.count(error, result);
        ++ended;
      };
      if (random() % 2 == 0) {
        const std::chrono::microseconds wait{static_cast<long>(random()) % longest.count()};
        mutex.async_try_acquire_for(wait, finish);
      } else {
        auto& signal = signals.emplace_back(std::make_unique<asio::cancellation_signal>());
        mutex.async_try_acquire_until(Deadline::never(),
                                      asio::bind_cancellation_slot(signal->slot(), finish));
      }
    }
    while (!signals.empty()) {
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 1500});
      signals.back()->emit(asio::cancellation_type::total);
      signals.pop_back();
    }
    // The callbacks refer to local variables: if one of them never ran, the watchdog would end the
    // test.
    while (ended < at_once) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

[[nodiscard]] bool is_idle(Client& client) {
  const Session::Load load = client.load();
  return load.operations == 0 && load.watches == 0;
}

void check_storm(int sessions, int waiters) {
  // The session is long: the server may be too busy with the other clients to answer this one's
  // beats.
  TestClient holder{"storm", connect_string(), std::chrono::minutes{1}};
  InterProcessMutex mutex{*holder, "/lock"};
  const Lease lease = mutex.acquire();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < sessions; ++i) {
    ClientOptions options = options_for(connect_string());
    options.name_space = holder.root();
    clients.push_back(std::make_unique<Client>(options));
    clients.back()->wait_connected();
  }
  const auto run = [&](int total, Tally& tally) {
    std::vector<std::thread> threads;
    threads.reserve(clients.size());
    for (std::size_t i = 0; i < clients.size(); ++i) {
      threads.emplace_back([&, i] {
        // More sessions make a longer queue, which takes longer to be listed.
        const std::chrono::milliseconds longest{40 + 20 * sessions};
        storm(*clients[i], total / sessions, longest, static_cast<unsigned>(i) + 1, tally);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return std::all_of(clients.begin(), clients.end(), [](const auto& client) {
      // Acquires that ended late are cleaned up in the background, which can take long on a slow
      // machine.
      if (eventually([&] { return is_idle(*client); }, std::chrono::minutes{1})) return true;
      const Session::Load load = client->load();
      WARN("left: " << load.operations << " operations, " << load.watches << " watches");
      return false;
    });
  };

  Tally warm_up;
  REQUIRE(run(waiters / 5, warm_up));
  const auto memory_before = ::mallinfo2().uordblks;
  Tally tally;
  CHECK(run(waiters, tally));
  const auto memory_after = ::mallinfo2().uordblks;

  CAPTURE(tally.granted, tally.cancelled, tally.late, tally.never_queued, tally.other);
  CHECK(tally.ended == waiters);
  CHECK(tally.granted == 0);
  CHECK(tally.other == 0);
  CHECK(tally.cancelled > 0);
  CHECK(tally.late + tally.never_queued > 0);
  // The number of acquires that end before they have queued depends on the machine: on a slow one
  // nearly all do, on a quick one none.
  WARN("cancelled " << tally.cancelled << ", late " << tally.late << ", never queued "
                    << tally.never_queued << ", bytes in use grew by "
                    << static_cast<long>(memory_after) - static_cast<long>(memory_before));
  // Memory must not grow, except by what buffers and tables keep of their largest size. A leak of
  // as little as 600 bytes a waiter would show.
  const std::size_t slack = (512 + 256 * static_cast<std::size_t>(sessions)) * 1024;
  CHECK(memory_after < memory_before + slack);

  CHECK(lease.state() == LeaseState::held);
  CHECK(holder->exists(lease.node()));
  CHECK(eventually([&] { return names_below(*holder, "/lock").size() == 1; }));
  if (!servers_are_foreign()) {
    const auto watches = own_server().watches_by_session();
    for (const auto& client : clients) CHECK_FALSE(watches.contains(client->session().id));
  }
}

TEST_CASE("ten thousand waiters of one session are given up at any step, and nothing is left",
          "[storm]") {
  check_storm(1, 10'000);
}

TEST_CASE("ten thousand waiters of twenty sessions are given up at any step, and nothing is left",
          "[storm]") {
  check_storm(20, 10'000);
}

}  // namespace
}  // namespace custodian::tests::waiter_storm_test
