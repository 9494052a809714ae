// InterProcessBarriers on real servers: many phases, while connections are cut, servers killed and
// sessions ended.

#include "custodian/barriers/inter_process_barrier.hpp"

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/barriers/beside.hpp"
#include "support/in_child.hpp"
#include "support/is_watching.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::inter_process_barrier_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto path = "/phases/one";

[[nodiscard]] auto arrived(InterProcessBarrier barrier) {
  return begun<>([&](auto done) { barrier.async_arrive_and_wait(std::move(done)); });
}
void check_passed(std::future<std::tuple<error_code>>& passed) {
  REQUIRE(passed.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(passed.get()));
}

/// 0 also if the servers do not answer.
[[nodiscard]] std::int32_t phase_of(const Client& client) {
  std::optional<Stat> barrier;
  static_cast<void>(error_of([&] { barrier = client.exists(path); }));
  return barrier ? barrier->version : 0;
}

/// Goes through `phases` phases with clients of these servers. Returns how many phases were over
/// before all had arrived.
int violations_of(TestClient& client, const std::string& servers, int arrivals, int phases) {
  std::atomic<int> begun_arrivals = 0;
  std::atomic<int> violations = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < arrivals; ++i) {
    threads.emplace_back([&] {
      const Client mine{beside(client, servers)};
      InterProcessBarrier barrier{mine, path, arrivals};
      for (int phase = 1; phase <= phases; ++phase) {
        ++begun_arrivals;
        barrier.arrive_and_wait();
        if (begun_arrivals < arrivals * phase) ++violations;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return violations;
}

TEST_CASE("phase after phase ends with as many arrivals as are expected") {
  TestClient client{"phases"};
  constexpr int phases = 30;
  CHECK(violations_of(client, connect_string(), 5, phases) == 0);
  CHECK(client->exists(path)->version == phases);
  CHECK(names_below(*client, path).empty());
}

TEST_CASE("phases go on while connections are cut, and no arrival counts twice") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient client{"phases-cut"};
  constexpr int phases = 30;
  std::atomic<bool> over = false;
  int cuts = 0;
  std::thread cutter{[&] {
    while (!over) {
      // The next cut waits for the next phase: otherwise a slow machine might never have a
      // connection long enough.
      const std::int32_t phase = phase_of(*client);
      if (!eventually([&] { return over || phase_of(*client) > phase; })) return;
      std::this_thread::sleep_for(phase % 5 * 5ms);
      proxy.cut(testing::Ending::reset);
      ++cuts;
    }
  }};
  const int violations = violations_of(client, proxy.connect_string(), 4, phases);
  over = true;
  cutter.join();
  CHECK(cuts > 0);
  CHECK(violations == 0);
  CHECK(client->exists(path)->version == phases);
  CHECK(eventually([&] { return names_below(*client, path).empty(); }));
}

TEST_CASE("an arrival sees a killed server through, and a session that it loses") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"phases-killed", server.connect_string()};
  Client other{beside(client, server.connect_string())};
  InterProcessBarrier barrier{*client, path, 2};
  auto first = arrived({other, path, 2});
  REQUIRE(eventually([&] { return is_watching(other); }));
  server.kill();
  server.start();
  REQUIRE(eventually([&] { return is_connected(other.connection_state()); }));
  const SessionInfo before = other.session();
  server.expire_session(before.id, before.password);
  REQUIRE(eventually([&] {
    const std::int64_t now = other.session().id;
    return now != 0 && now != before.id && is_watching(other);
  }));
  CHECK(first.wait_for(0s) == std::future_status::timeout);
  barrier.arrive_and_wait();
  check_passed(first);
}

TEST_CASE("an arrival that is late, stopped or cancelled is taken back") {
  TestClient client{"phases-late"};
  InterProcessBarrier barrier{*client, path, 2};
  CHECK(barrier.path() == path);
  CHECK(barrier.expected() == 2);
  CHECK_FALSE(barrier.arrive_and_wait_for(0s));
  CHECK_FALSE(barrier.arrive_and_wait_for(50ms));
  CHECK(names_below(*client, path).empty());
  for (const bool has_limit : {false, true}) {
    std::stop_source source;
    error_code error;
    std::thread waiter{[&] {
      error = error_of([&] {
        if (!has_limit) return barrier.arrive_and_wait(source.get_token());
        static_cast<void>(barrier.arrive_and_wait_for(patience, source.get_token()));
      });
    }};
    CHECK(eventually([&] { return is_watching(*client); }));
    source.request_stop();
    waiter.join();
    CHECK(error == asio::error::operation_aborted);
    CHECK(names_below(*client, path).empty());
  }
  asio::cancellation_signal signal;
  auto passed = begun<>([&](auto done) {
    barrier.async_arrive_and_wait(asio::bind_cancellation_slot(signal.slot(), std::move(done)));
  });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  signal.emit(asio::cancellation_type::total);
  REQUIRE(passed.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(passed.get()) == asio::error::operation_aborted);
  CHECK(names_below(*client, path).empty());
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("coroutines, futures and threads arrive by one object") {
  TestClient client{"phases-tokens"};
  InterProcessBarrier barrier{*client, path, 3};
  asio::io_context context;
  auto passed = asio::co_spawn(
      context,
      [](InterProcessBarrier one) -> asio::awaitable<bool> {
        co_await one.async_arrive_and_wait(asio::use_awaitable);
        const bool in_time = co_await one.async_arrive_and_wait_for(20ms, asio::use_awaitable);
        co_return in_time;
      }(barrier),
      asio::use_future);
  auto future = barrier.async_arrive_and_wait_until(Deadline::never(), asio::use_future);
  std::thread thread{[&] { barrier.arrive_and_wait(); }};
  context.run();
  thread.join();
  CHECK(future.get());
  CHECK_FALSE(passed.get());
}

TEST_CASE("in a forked child nobody can arrive, and the parent goes on waiting") {
  TestClient client{"phases-fork"};
  InterProcessBarrier barrier{*client, path, 2};
  auto first = arrived(barrier);
  REQUIRE(eventually([&] { return is_watching(*client); }));
  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { barrier.arrive_and_wait(); }) == Errc::forked &&
        error_of([&] { static_cast<void>(barrier.arrive_and_wait_for(1ms)); }) == Errc::forked;
    return refused;
  }));
  const Client other{beside(client)};
  InterProcessBarrier{other, path, 2}.arrive_and_wait();
  check_passed(first);
}

}  // namespace
}  // namespace custodian::tests::inter_process_barrier_test
