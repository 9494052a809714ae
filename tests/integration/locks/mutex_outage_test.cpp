/// \file
/// Threads and coroutines contend while their server stops and starts again.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::mutex_outage_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Threads and coroutines add to a counter that only the lock protects, while `trouble` happens to
/// the server.
void contend(const std::string& servers, Server& server, const std::function<void()>& trouble) {
  TestClient client{"contention", servers};
  InterProcessMutex mutex{*client, "/lock"};
  constexpr int threads = 8;
  constexpr int coroutines = 8;
  constexpr int rounds = 40;
  int counter = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      for (int k = 0; k < rounds; ++k) {
        try {
          const std::scoped_lock guard{mutex};
          ++counter;
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  asio::io_context context;
  for (int i = 0; i < coroutines; ++i) {
    asio::co_spawn(
        context,
        // The references are safe: mutex and counter outlive the context.
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
        [](InterProcessMutex& shared, int& value) -> asio::awaitable<void> {
          for (int k = 0; k < rounds; ++k) {
            const Lease lease = co_await shared.async_acquire(asio::use_awaitable);
            ++value;
          }
        }(mutex, counter),
        [&](std::exception_ptr failure) {
          if (failure) ++failures;
        });
  }
  std::thread runner{[&] { context.run(); }};
  std::exception_ptr harness_failed;
  try {
    trouble();
  } catch (...) {
    harness_failed = std::current_exception();
    client->close();  // a waiter would otherwise wait for ever if the server stayed down
  }
  for (std::thread& worker : workers) worker.join();
  runner.join();
  if (harness_failed) std::rethrow_exception(harness_failed);
  CHECK(failures == 0);
  CHECK(counter == (threads + coroutines) * rounds);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
  CHECK(eventually([&] {
    const Session::Load load = client->load();
    return load.operations == 0 && load.watches == 0;
  }));
  CHECK(server.watches_by_session().empty());
}

TEST_CASE("a server that is restarted under contention delays everybody and loses nothing",
          "[slow]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  contend(server.connect_string(), server, [&] {
    for (int i = 0; i < 3; ++i) {
      // Some work between two outages; the test does not depend on it.
      std::this_thread::sleep_for(100ms);
      server.restart();
    }
  });
}

TEST_CASE("a server that is killed under contention delays everybody and loses nothing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  contend(server.connect_string(), server, [&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(100ms);
      server.kill();
      server.start();
    }
  });
}

TEST_CASE("a server that is paused under contention delays everybody and loses nothing", "[slow]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  contend(server.connect_string(), server, [&] {
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(100ms);
      server.pause();
      std::this_thread::sleep_for(1500ms);  // shorter than any session timeout here
      server.resume();
    }
  });
}

}  // namespace
}  // namespace custodian::tests::mutex_outage_test
