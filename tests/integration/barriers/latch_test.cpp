// Count-down latches on real servers: arrivals through cut connections, and thousands of waiters.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/barriers/beside.hpp"
#include "support/in_child.hpp"
#include "support/is_watching.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::latch_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto path = "/latches/one";

[[nodiscard]] std::future<std::tuple<error_code>> waiting(Client& client, std::int32_t expected) {
  auto opened = begun<>([&](auto done) {
    CountDownLatch{client, path, expected}.async_wait(std::move(done));
  });
  REQUIRE(eventually([&] { return is_watching(client); }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  return opened;
}

void check_open(std::future<std::tuple<error_code>>& opened) {
  REQUIRE(opened.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(opened.get()));
}

TEST_CASE("a latch counts down, opens with the last arrival, and stays open") {
  TestClient client{"latch"};
  CountDownLatch latch{*client, path, 4};
  CHECK(latch.path() == path);
  CHECK(latch.expected() == 4);
  CHECK(latch.count() == 4);
  CHECK_FALSE(latch.try_wait());
  CHECK_FALSE(client->exists(path));
  latch.count_down();
  CHECK(client->get(path).data == "4");
  CHECK(latch.count() == 3);
  latch.count_down(2);
  CHECK_FALSE(latch.wait_for(0s));
  CHECK_FALSE(latch.wait_for(50ms));
  CHECK(eventually([&] { return client->load().watches == 0; }));
  Client other{beside(client)};
  auto opened = waiting(other, 4);
  latch.arrive_and_wait();
  check_open(opened);
  CHECK(latch.count() == 0);
  CHECK(latch.try_wait());
  CHECK(latch.wait_for(0s));
  latch.wait();
  latch.count_down(7);
  latch.count_down(0);
  CHECK(client->children(path).names.size() == 4);
  CHECK(eventually([&] { return other.load().watches == 0 && client->load().watches == 0; }));
  latch.remove();
  CHECK_FALSE(client->exists(path));
  latch.remove();
}

TEST_CASE("clients that expect different numbers are refused, but for the first") {
  TestClient client{"latch-numbers"};
  CountDownLatch{*client, path, 2}.count_down();
  CountDownLatch other{*client, path, 3};
  CHECK(error_of([&] { other.count_down(); }) == Errc::invalid_argument);
  CHECK(error_of([&] { other.wait(); }) == Errc::invalid_argument);
  CHECK(client->children(path).names.size() == 1);
}

TEST_CASE("arrivals of many clients at the same moment are all counted, each of them once") {
  TestClient client{"latch-clients"};
  constexpr std::int32_t parties = 8;
  constexpr std::int32_t each_arrives = 5;
  std::vector<std::thread> threads;
  std::atomic<int> through = 0;
  for (int i = 0; i < parties; ++i) {
    threads.emplace_back([&] {
      const Client mine{beside(client)};
      CountDownLatch latch{mine, path, parties * each_arrives};
      for (int k = 1; k < each_arrives; ++k) latch.count_down();
      latch.arrive_and_wait();
      ++through;
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(through == parties);
  CHECK(client->children(path).names.size() == parties * each_arrives);
}

TEST_CASE("an arrival is counted once, however often its connection is cut") {
  CUSTODIAN_REQUIRES_PLAIN_TCP("the proxy counts packets");
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient client{"latch-cut"};
  Client other{beside(client, proxy.connect_string())};
  constexpr std::int32_t expected = 60;
  CountDownLatch latch{other, path, expected};
  auto opened = waiting(*client, expected);
  for (std::int32_t i = 0; i < expected; ++i) {
    // The reply to the read arrives or is lost, and so does the reply to the transaction.
    proxy.cut_after_replies(static_cast<std::uint64_t>(i % 3 + 1),
                            i % 2 == 0 ? testing::LastReply::arrives : testing::LastReply::is_lost);
    latch.count_down();
    REQUIRE(latch.count() == expected - 1 - i);
  }
  proxy.heal();
  check_open(opened);
}

TEST_CASE("a thousand waiters get one event each, that of the last arrival") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"latch-thousand", server.connect_string()};
  constexpr int sessions = 50;
  constexpr std::size_t each_waits = 20;
  CountDownLatch latch{*client, path, 3};
  std::vector<Client> clients;
  std::vector<std::future<std::tuple<error_code>>> all;
  for (int i = 0; i < sessions; ++i) {
    clients.emplace_back(beside(client, server.connect_string()));
    const CountDownLatch theirs{clients.back(), path, 3};
    for (std::size_t k = 0; k < each_waits; ++k) {
      all.push_back(begun<>([&](auto done) { theirs.async_wait(std::move(done)); }));
    }
    REQUIRE(eventually([&] { return is_watching(clients.back()); }));
  }
  const auto events = [&] { return server.statistic("zk_sum_node_created_watch_count"); };
  const auto others = [&] {
    return server.statistic("zk_sum_node_changed_watch_count") +
           server.statistic("zk_sum_node_children_watch_count") +
           server.statistic("zk_sum_node_deleted_watch_count");
  };
  const auto created = events();
  const auto other = others();
  latch.count_down(2);
  CHECK(latch.count() == 1);
  CHECK(events() == created);
  latch.count_down();
  for (auto& each : all) check_open(each);
  // A session has one watch on the node, however many of its waits share it.
  CHECK(events() - created == sessions);
  CHECK(others() == other);
}

TEST_CASE("a waiter at a latch sees a killed server through, and a session that it loses") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  TestClient client{"latch-killed", server.connect_string()};
  CountDownLatch latch{*client, path, 2};
  latch.count_down();
  Client cut{beside(client, proxy.connect_string())};
  auto opened = waiting(cut, 2);
  server.kill();
  server.start();
  CHECK(latch.count() == 1);
  REQUIRE(eventually([&] { return is_connected(cut.connection_state()); }));
  const SessionInfo first = cut.session();
  server.expire_session(first.id, first.password);
  REQUIRE(eventually([&] {
    const std::int64_t now = cut.session().id;
    return now != 0 && now != first.id && is_watching(cut);
  }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  proxy.refuse();
  proxy.cut();
  latch.count_down();
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  proxy.accept();
  check_open(opened);
}

TEST_CASE("a wait at a latch is stopped, or cancelled, and leaves no watch") {
  TestClient client{"latch-stopped"};
  CountDownLatch latch{*client, path, 2};
  for (int form = 0; form < 3; ++form) {
    std::stop_source source;
    error_code error;
    std::thread waiter{[&] {
      error = error_of([&] {
        if (form == 0) return latch.wait(source.get_token());
        if (form == 1) return static_cast<void>(latch.wait_for(patience, source.get_token()));
        latch.arrive_and_wait(1, source.get_token());
      });
    }};
    CHECK(eventually([&] { return is_watching(*client); }));
    source.request_stop();
    waiter.join();
    CHECK(error == asio::error::operation_aborted);
    CHECK(eventually([&] { return client->load().watches == 0; }));
  }
  // The arrival stays.
  CHECK(latch.count() == 1);
  asio::cancellation_signal signal;
  auto opened = begun<>([&](auto done) {
    latch.async_wait(asio::bind_cancellation_slot(signal.slot(), std::move(done)));
  });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  signal.emit(asio::cancellation_type::total);
  REQUIRE(opened.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(opened.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a latch is waited for by a coroutine, and by a future") {
  TestClient client{"latch-tokens"};
  const CountDownLatch latch{*client, path, 3};
  asio::io_context context;
  auto passed = asio::co_spawn(
      context,
      [](CountDownLatch one) -> asio::awaitable<bool> {
        co_await one.async_count_down(asio::use_awaitable);
        const bool in_time = co_await one.async_wait_for(20ms, asio::use_awaitable);
        const std::int32_t missing = co_await one.async_count(asio::use_awaitable);
        co_await one.async_arrive_and_wait(2, asio::use_awaitable);
        co_await one.async_wait(asio::use_awaitable);
        const bool is_open = co_await one.async_try_wait(asio::use_awaitable);
        co_return !in_time && missing == 2 && is_open;
      }(latch),
      asio::use_future);
  context.run();
  CHECK(passed.get());
  CHECK(latch.async_wait_until(Deadline::never(), asio::use_future).get());
}

TEST_CASE("in a forked child no latch can be used, and its parent goes on waiting") {
  TestClient client{"latch-fork"};
  CountDownLatch latch{*client, path, 1};
  Client other{beside(client)};
  auto opened = waiting(other, 1);
  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { latch.wait(); }) == Errc::forked &&
        error_of([&] { static_cast<void>(latch.wait_for(1ms)); }) == Errc::forked &&
        error_of([&] { static_cast<void>(latch.count()); }) == Errc::forked &&
        error_of([&] { latch.count_down(); }) == Errc::forked &&
        error_of([&] { latch.remove(); }) == Errc::forked;
    return refused;
  }));
  CHECK(opened.wait_for(0s) == std::future_status::timeout);
  latch.count_down();
  check_open(opened);
}

}  // namespace
}  // namespace custodian::tests::latch_test
