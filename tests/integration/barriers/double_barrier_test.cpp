// Double barriers on real servers: parties of several processes' clients, killed and cut off.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/barriers/beside.hpp"
#include "support/in_child.hpp"
#include "support/is_watching.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::double_barrier_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto path = "/parties/one";

std::vector<std::string> members_below(Client& client) {
  std::vector<std::string> names = names_below(client, path);
  std::erase(names, "ready");
  return names;
}

TEST_CASE("members of a party begin together and end together, party after party") {
  TestClient client{"party"};
  constexpr int members = 5;
  constexpr int rounds = 20;
  std::atomic<int> inside = 0;
  std::atomic<int> violations = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i) {
    threads.emplace_back([&] {
      const Client mine{beside(client)};
      DistributedDoubleBarrier barrier{mine, path, members};
      for (int round = 1; round <= rounds; ++round) {
        ++inside;
        barrier.enter();
        if (inside < members * round) ++violations;  // a member had not come yet
        barrier.leave();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(violations == 0);
  CHECK(names_below(*client, path).empty());
}

TEST_CASE("a member that is late, stopped or alone is out, and a party without it is complete") {
  TestClient client{"party-late"};
  DistributedDoubleBarrier one{*client, path, 2};
  CHECK_FALSE(one.try_enter_for(50ms));
  CHECK(names_below(*client, path).empty());
  std::stop_source source;
  error_code error;
  std::thread waiter{[&] { error = error_of([&] { one.enter(source.get_token()); }); }};
  CHECK(eventually([&] { return is_watching(*client); }));
  source.request_stop();
  waiter.join();
  CHECK(error == asio::error::operation_aborted);
  CHECK(names_below(*client, path).empty());
  const Client other{beside(client)};
  DistributedDoubleBarrier two{other, path, 2};
  auto entered = begun<bool>([&](auto done) { two.async_enter(std::move(done)); });
  CHECK(one.try_enter_for(patience));
  REQUIRE(entered.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(entered.get()));
  CHECK_FALSE(one.try_leave_for(50ms));
  CHECK(two.try_leave_for(patience));
  CHECK(eventually([&] { return members_below(*client).empty(); }));
  // A member that gives up its leaving may leave `ready` behind, which lets nobody in.
  CHECK_FALSE(one.try_enter_for(50ms));
  auto again = begun<bool>([&](auto done) { two.async_enter(std::move(done)); });
  CHECK(one.try_enter_for(patience));
  REQUIRE(again.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(again.get()));
  auto left = begun<bool>([&](auto done) { two.async_leave(std::move(done)); });
  one.leave();
  REQUIRE(left.wait_for(patience) == std::future_status::ready);
  CHECK(names_below(*client, path).empty());
}

TEST_CASE("a member sees a killed server through; one whose session ends is waited for no more") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  TestClient client{"party-killed", server.connect_string()};
  DistributedDoubleBarrier one{*client, path, 2};
  auto first = begun<bool>([&](auto done) { one.async_enter(std::move(done)); });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  server.kill();
  server.start();
  Client cut{beside(client, proxy.connect_string())};
  DistributedDoubleBarrier two{cut, path, 2};
  two.enter();
  REQUIRE(first.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(first.get()));
  const SessionInfo lost = cut.session();
  proxy.refuse();
  proxy.cut();
  auto left = begun<bool>([&](auto done) { one.async_leave(std::move(done)); });
  CHECK(left.wait_for(100ms) == std::future_status::timeout);
  server.expire_session(lost.id, lost.password);
  REQUIRE(left.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(left.get()));
  proxy.accept();
  CHECK(error_of([&] { two.leave(); }) == Errc::session_lost);
}

TEST_CASE("a party is entered and left by a coroutine") {
  TestClient client{"party-tokens"};
  DistributedDoubleBarrier alone{*client, path, 1};
  asio::io_context context;
  auto passed = asio::co_spawn(
      context,
      [](DistributedDoubleBarrier* one) -> asio::awaitable<bool> {
        const bool entered = co_await one->async_enter(asio::use_awaitable);
        const bool left = co_await one->async_leave_until(Deadline::never(), asio::use_awaitable);
        co_return entered&& left;
      }(&alone),
      asio::use_future);
  context.run();
  CHECK(passed.get());
  CHECK(names_below(*client, path).empty());
}

TEST_CASE("in a forked child no party can be entered, and its parent goes on waiting") {
  TestClient client{"party-fork"};
  DistributedDoubleBarrier one{*client, path, 2};
  auto entered = begun<bool>([&](auto done) { one.async_enter(std::move(done)); });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  CHECK(in_child([&] {
    const bool refused =
        error_of([&] { one.enter(); }) == Errc::forked &&
        error_of([&] { static_cast<void>(one.try_enter_for(1ms)); }) == Errc::forked &&
        error_of([&] { one.leave(); }) == Errc::forked;
    return refused;
  }));
  const Client other{beside(client)};
  DistributedDoubleBarrier two{other, path, 2};
  two.enter();
  REQUIRE(entered.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(entered.get()));
}

}  // namespace
}  // namespace custodian::tests::double_barrier_test
