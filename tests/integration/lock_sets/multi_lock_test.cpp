#include <algorithm>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::multi_lock_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// The locks of one client, of all kinds.
struct Locks {
  explicit Locks(Client& client)
      : a{client, "/a"}, b{client, "/b"}, c{client, "/c"}, d{client, "/d", 3} {}
  InterProcessMutex a;
  InterProcessReadWriteLock b;
  InterProcessSemaphoreMutex c;
  InterProcessSemaphore d;
  InterProcessMultiLock all{{a, b.write(), c, {d, 2}}};
};

std::vector<std::string> all_nodes(Client& client) {
  std::vector<std::string> all;
  for (const std::string parent : {"/a", "/b", "/c/locks", "/c/leases", "/d/locks", "/d/leases"}) {
    const auto names = names_below(client, parent);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

Client another(TestClient& first) {
  ClientOptions options = options_for(connect_string());
  options.name_space = first.root();
  Client client{options};
  client.wait_connected();  // a try does not wait for the connection
  return client;
}

TEST_CASE("locks of all kinds are had together, and let go together") {
  TestClient client{"together"};
  Locks locks{*client};
  LeaseGroup leases = locks.all.acquire();
  CHECK(leases.leases().size() == 5);
  CHECK(leases.state() == LeaseState::held);
  CHECK(leases.remaining() > 0s);
  Client second = another(client);
  Locks others{second};
  CHECK_FALSE(acquired(others.a.try_acquire()));
  CHECK_FALSE(acquired(others.b.read().try_acquire()));
  CHECK_FALSE(acquired(others.c.try_acquire()));
  CHECK(others.d.try_acquire(2).permits.empty());
  const GroupAcquireResult in_vain = others.all.try_acquire();
  CHECK_FALSE(in_vain);
  CHECK(in_vain.path == "/a");
  leases.release();
  CHECK(eventually([&] { return all_nodes(*client).empty(); }));
  CHECK(acquired(others.all.try_acquire_for(patience)));
}

TEST_CASE("one lock that is held by somebody keeps none of the others from anybody for long") {
  TestClient client{"undone"};
  Client second = another(client);
  Locks mine{*client};
  Locks others{second};
  Lease in_the_way = others.c.acquire();
  const GroupAcquireResult late = mine.all.try_acquire_for(2s);
  CHECK_FALSE(late);
  CHECK(late.reason != NotAcquired::none);
  const GroupAcquireResult tried = mine.all.try_acquire();
  CHECK_FALSE(tried);
  CHECK(tried.path == "/c");
  REQUIRE(tried.blocked_by);
  CHECK(tried.blocked_by->node == in_the_way.node());
  CHECK(eventually([&] { return all_nodes(*client).size() == 1; }));
  in_the_way.release();
  CHECK(mine.all.acquire().leases().size() == 5);
}

TEST_CASE("an acquire of several is stopped, wherever it waits, and leaves nothing") {
  TestClient client{"stopped"};
  Client second = another(client);
  Locks mine{*client};
  Locks others{second};
  const Lease in_the_way = others.c.acquire();
  std::stop_source stop;
  AcquireOptions options;
  options.on_position = [&](auto&&...) { stop.request_stop(); };
  CHECK(error_of([&] { static_cast<void>(mine.all.acquire(options, stop.get_token())); }) ==
        asio::error::operation_aborted);
  CHECK(eventually([&] { return all_nodes(*client).size() == 1; }));
}

TEST_CASE("an error names the lock that failed") {
  TestClient client{"names"};
  Locks locks{*client};
  Client closed = another(client);
  InterProcessMutex elsewhere{closed, "/elsewhere"};
  InterProcessMultiLock both{{locks.a, elsewhere}};
  closed.close();
  CHECK(error_of([&] { static_cast<void>(both.acquire()); }) == Errc::closed);
  CHECK(message_of([&] { static_cast<void>(both.acquire()); }).find("acquire /elsewhere") == 0);
  CHECK(eventually([&] { return all_nodes(*client).empty(); }));
}

TEST_CASE("a result names the lock whose servers are out of reach, not the first one") {
  TestClient client{"servers"};
  Locks locks{*client};
  Client away{options_for("127.0.0.1:1")};
  InterProcessMutex elsewhere{away, "/elsewhere"};
  InterProcessMultiLock both{{locks.a, elsewhere}};
  const GroupAcquireResult late = both.try_acquire_for(2s);
  CHECK(late.reason == NotAcquired::no_connection);
  CHECK(late.explain() == "/elsewhere: there is no connection to the servers");
  CHECK(eventually([&] { return all_nodes(*client).empty(); }));
}

TEST_CASE("std::unique_lock has several locks; any thread unlocks them, and nobody locks twice") {
  TestClient client{"standard"};
  Locks locks{*client};
  client->wait_connected();
  CHECK(error_of([&] { locks.all.unlock(); }) == boost::system::errc::operation_not_permitted);
  {
    std::unique_lock lock{locks.all, std::defer_lock};
    CHECK(lock.try_lock());
    CHECK(locks.all.current_leases().state() == LeaseState::held);
    CHECK_FALSE(locks.all.try_lock());
    CHECK_FALSE(locks.all.try_lock_for(0ms));
    std::async(std::launch::async, [&] { lock.unlock(); }).get();
    CHECK(locks.all.current_leases().state() == LeaseState::released);
    CHECK(lock.try_lock_for(patience));
    lock.unlock();
    lock.lock();
  }
  const std::scoped_lock again{locks.all};
  CHECK(all_nodes(*client).size() == 5);
}

TEST_CASE("threads and coroutines of two clients exclude each other by several locks") {
  TestClient first{"crowd"};
  Client second = another(first);
  Locks mine{*first};
  Locks yours{second};
  int counter = 0;  // protected by the locks alone
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      for (int k = 0; k < 5; ++k) {
        const std::scoped_lock guard{i % 2 == 0 ? mine.all : yours.all};
        ++counter;
      }
    }));
  }
  asio::io_context context;
  for (int i = 0; i < 4; ++i) {
    asio::co_spawn(
        context,
        [](InterProcessMultiLock* all, int* value) -> asio::awaitable<void> {
          for (int k = 0; k < 5; ++k) {
            const LeaseGroup leases = co_await all->async_acquire(asio::use_awaitable);
            ++*value;
          }
        }(i % 2 == 0 ? &mine.all : &yours.all, &counter),
        [](std::exception_ptr failure) {
          if (failure) std::rethrow_exception(failure);
        });
  }
  context.run();
  for (auto& thread : threads) thread.get();
  CHECK(counter == 40);
  CHECK(eventually([&] { return all_nodes(*first).empty(); }));
}

TEST_CASE("a group may be released by one thread while its loss is told on another") {
  TestClient client{"race"};
  InterProcessMutex a{*client, "/a"};
  InterProcessMutex b{*client, "/b"};
  InterProcessMultiLock both{{a, b}};
  for (int round = 0; round < 30; ++round) {
    AcquireOptions options;
    options.lease.hold_at_most = std::chrono::milliseconds{20 + round};
    GroupAcquireResult had;
    // On a busy machine the first lock may be lost before the second is acquired.
    if (error_of([&] { had = both.try_acquire_for(patience, options); })) continue;
    std::atomic<int> told = 0;
    auto wait = begun<>([&](auto done) { had.leases.async_wait_lost(std::move(done)); });
    {
      const std::stop_callback on_lost{had.leases.lost(), [&] { ++told; }};
      while (had.leases.remaining() > std::chrono::microseconds{round * 20}) {
        std::this_thread::yield();
      }
      had.leases.release();
    }
    CHECK(told <= 1);
    REQUIRE(wait.wait_for(patience) == std::future_status::ready);
  }
  CHECK(eventually([&] { return names_below(*client, "/a").empty(); }));
}

TEST_CASE("several locks of two ensembles are lost with the session of either") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server other_server;
  TestClient first{"here"};
  TestClient second{"there", other_server.connect_string()};
  InterProcessMutex here{*first, "/a"};
  InterProcessMutex there{*second, "/a"};
  InterProcessMultiLock both{{here, there}};
  LeaseGroup leases = both.acquire();
  auto lost = begun<>([&](auto done) { leases.async_wait_lost(std::move(done)); });
  std::atomic<bool> told = false;
  const std::stop_callback on_lost{leases.lost(), [&] { told = true; }};
  const SessionInfo session = second->session();
  other_server.expire_session(session.id, session.password);
  REQUIRE(lost.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(eventually([&] { return told.load(); }));
  CHECK(leases.state() == LeaseState::lost);
  CHECK(leases.leases()[0].state() == LeaseState::held);
  leases.release();
  CHECK(eventually([&] { return names_below(*first, "/a").empty(); }));
  // The lost locks can be acquired again.
  CHECK(acquired(both.try_acquire_for(patience)));
}

}  // namespace
}  // namespace custodian::tests::multi_lock_test
