// Barriers on real servers: through restarts, cut connections and lost sessions.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/barriers/beside.hpp"
#include "support/in_child.hpp"
#include "support/is_watching.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::barrier_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto path = "/barriers/one";

/// Begins to wait, and returns when the waiter is known to the servers.
[[nodiscard]] std::future<std::tuple<error_code>> waiting(Client& client) {
  auto opened = begun<>([&](auto done) {
    DistributedBarrier{client, path}.async_wait(std::move(done));
  });
  REQUIRE(eventually([&] { return is_watching(client); }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  return opened;
}

void check_open(std::future<std::tuple<error_code>>& opened) {
  REQUIRE(opened.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(opened.get()));
}

TEST_CASE("a barrier is set, holds up, and is removed; twice is as good as once") {
  TestClient client{"barrier"};
  DistributedBarrier barrier{*client, path};
  CHECK(barrier.path() == path);
  CHECK_FALSE(barrier.is_set());
  barrier.remove();
  barrier.wait();
  CHECK(barrier.wait_for(0s));
  CHECK(client->load().watches == 0);
  barrier.set();
  barrier.set();
  CHECK(barrier.is_set());
  const Stat stat = client->exists(path).value();
  CHECK(stat.ephemeral_owner == 0);
  CHECK(client->get(path).data == client->identity());
  CHECK_FALSE(barrier.wait_for(0s));
  CHECK_FALSE(barrier.wait_for(50ms));
  CHECK(eventually([&] { return client->load().watches == 0; }));
  barrier.remove();
  barrier.remove();
  CHECK_FALSE(barrier.is_set());
  CHECK(barrier.wait_until({}));
}

TEST_CASE("a removed barrier lets the waiters of all clients through, each of them once") {
  TestClient client{"barrier-clients"};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  std::vector<Client> clients;
  std::vector<std::future<std::tuple<error_code>>> all;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back(beside(client));
    all.push_back(waiting(clients.back()));
  }
  barrier.remove();
  for (auto& each : all) check_open(each);
  for (Client& each : clients) CHECK(eventually([&] { return each.load().watches == 0; }));
}

TEST_CASE("a barrier that is open for a moment lets those through who waited, and nobody later") {
  TestClient client{"barrier-moment"};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  Client other{beside(client)};
  for (int round = 0; round < 20; ++round) {
    auto opened = waiting(other);
    barrier.remove();
    barrier.set();
    check_open(opened);
  }
  auto next = waiting(other);
  barrier.remove();
  check_open(next);
}

TEST_CASE("a wait at a barrier is stopped, or cancelled, and leaves no watch") {
  TestClient client{"barrier-stopped"};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  for (const bool limited : {false, true}) {
    std::stop_source source;
    error_code error;
    std::thread waiter{[&] {
      error = error_of([&] {
        if (!limited) return barrier.wait(source.get_token());
        static_cast<void>(barrier.wait_for(patience, source.get_token()));
      });
    }};
    CHECK(eventually([&] { return is_watching(*client); }));
    source.request_stop();
    waiter.join();
    CHECK(error == asio::error::operation_aborted);
    CHECK(eventually([&] { return client->load().watches == 0; }));
  }
  asio::cancellation_signal signal;
  auto opened = begun<>([&](auto done) {
    barrier.async_wait(asio::bind_cancellation_slot(signal.slot(), std::move(done)));
  });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  signal.emit(asio::cancellation_type::total);
  REQUIRE(opened.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(opened.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a barrier is waited for by a coroutine, and by a future") {
  TestClient client{"barrier-tokens"};
  const DistributedBarrier barrier{*client, path};
  asio::io_context context;
  auto passed = asio::co_spawn(
      context,
      [](DistributedBarrier one) -> asio::awaitable<bool> {
        co_await one.async_set(asio::use_awaitable);
        const bool in_time = co_await one.async_wait_for(20ms, asio::use_awaitable);
        co_await one.async_remove(asio::use_awaitable);
        co_await one.async_wait(asio::use_awaitable);
        const bool is_set = co_await one.async_is_set(asio::use_awaitable);
        co_return !in_time && !is_set;
      }(barrier),
      asio::use_future);
  context.run();
  CHECK(passed.get());
  CHECK(barrier.async_wait_until(Deadline::never(), asio::use_future).get());
}

TEST_CASE("a wait at a barrier without time waits for the answer, though that takes its time") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient client{"barrier-slow"};
  const Client slow{beside(client, proxy.connect_string())};
  slow.wait_connected();
  proxy.delay(testing::Direction::both, 100ms);
  CHECK(DistributedBarrier{slow, path}.wait_for(0s));
}

TEST_CASE("a waiter sees a killed server through, and a barrier that was open meanwhile") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  TestClient client{"barrier-killed", server.connect_string()};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  Client cut{beside(client, proxy.connect_string())};
  auto through = waiting(cut);
  Client other{beside(client, server.connect_string())};
  auto opened = waiting(other);
  server.kill();
  server.start();
  // The watches are armed anew, and nothing has changed.
  CHECK(barrier.is_set());
  REQUIRE(eventually([&] { return server.watches_by_session().size() == 2; }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  CHECK(through.wait_for(0s) == std::future_status::timeout);
  proxy.refuse();
  proxy.cut();
  barrier.remove();
  check_open(opened);
  barrier.set();
  CHECK(through.wait_for(0s) == std::future_status::timeout);
  proxy.accept();
  check_open(through);
}

TEST_CASE("a waiter goes on in its next session, and notices a barrier that was open meanwhile") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient client{"barrier-session"};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  Client other{beside(client, proxy.connect_string())};
  auto opened = waiting(other);
  const SessionInfo first = other.session();
  own_server().expire_session(first.id, first.password);
  REQUIRE(eventually([&] {
    const std::int64_t now = other.session().id;
    return now != 0 && now != first.id && is_watching(other);
  }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  const SessionInfo second = other.session();
  proxy.refuse();
  proxy.cut();
  own_server().expire_session(second.id, second.password);
  barrier.remove();
  barrier.set();
  proxy.accept();
  check_open(opened);
}

TEST_CASE("waiters come and go on many threads while a barrier opens and closes") {
  TestClient client{"barrier-threads"};
  DistributedBarrier barrier{*client, path};
  Client other{beside(client)};
  std::atomic<bool> over = false;
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const DistributedBarrier mine{other, path};
      while (!over) {
        if (mine.wait_for(i % 2 == 0 ? 1ms : 20ms)) ++passed;
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    barrier.set();
    barrier.remove();
  }
  REQUIRE(eventually([&] { return passed > 4; }));
  over = true;
  for (std::thread& each : threads) each.join();
  CHECK(eventually([&] { return other.load().watches == 0; }));
  CHECK(eventually([&] { return other.load().operations == 0; }));
}

TEST_CASE("in a forked child no barrier can be used, and its parent goes on waiting") {
  TestClient client{"barrier-fork"};
  DistributedBarrier barrier{*client, path};
  barrier.set();
  Client other{beside(client)};
  auto opened = waiting(other);
  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { barrier.wait(); }) == Errc::forked &&
        error_of([&] { static_cast<void>(barrier.wait_for(1ms)); }) == Errc::forked &&
        error_of([&] { static_cast<void>(barrier.is_set()); }) == Errc::forked &&
        error_of([&] { barrier.set(); }) == Errc::forked &&
        error_of([&] { barrier.remove(); }) == Errc::forked;
    return refused;
  }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  barrier.remove();
  check_open(opened);
}

}  // namespace
}  // namespace custodian::tests::barrier_test
