// Waits for another value, and listeners, that last through cancellations, restarts and lost
// sessions.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>

#include "custodian/shared/shared_count.hpp"
#include "integration/shared/shared_values.hpp"
#include "support/is_watching.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::shared_value_wait_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

using shared_values::beside;
using shared_values::Count;

TEST_CASE("a wait ends with the next write, and at once with one that was before it") {
  TestClient client{"wait"};
  SharedCount count{*client, "/count"};
  const Client other{beside(client)};
  SharedCount others{other, "/count"};
  const Count known = count.load();
  auto newer = begun<Count>([&](auto done) { count.async_wait(known, done); });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  others.store(1);
  REQUIRE(newer.wait_for(patience) == std::future_status::ready);
  const auto [error, value] = newer.get();
  CHECK_FALSE(error);
  CHECK(value == others.load());
  CHECK(value.value == 1);
  CHECK(count.wait(known) == value);
  CHECK(count.wait({}) == value);
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a wait is given up by slot and by stop_token") {
  TestClient client{"given-up"};
  SharedCount count{*client, "/count"};
  const Count known = count.load();
  asio::cancellation_signal signal;
  auto newer = begun<Count>([&](auto done) {
    count.async_wait(known, asio::bind_cancellation_slot(signal.slot(), std::move(done)));
  });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  signal.emit(asio::cancellation_type::total);
  REQUIRE(newer.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(newer.get()) == asio::error::operation_aborted);

  std::stop_source source;
  error_code error;
  std::thread waiter{
      [&] { error = error_of([&] { static_cast<void>(count.wait(known, source.get_token())); }); }};
  CHECK(eventually([&] { return is_watching(*client); }));
  source.request_stop();
  waiter.join();
  CHECK(error == asio::error::operation_aborted);
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a follower sees every restart of its server through, and the last write in the end") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"restart", server.connect_string()};
  SharedCount count{*client, "/count"};
  constexpr std::int32_t last = 30;
  asio::io_context context;
  std::vector<Count> seen;
  error_code failure;
  asio::co_spawn(
      context,
      [](SharedCount followed, std::vector<Count>* values) -> asio::awaitable<void> {
        Count now;
        while (now.value < last) {
          now = co_await followed.async_wait(now, asio::use_awaitable);
          values->push_back(now);
        }
      }(count, &seen),
      [&](std::exception_ptr thrown) {
        try {
          if (thrown) std::rethrow_exception(thrown);
        } catch (const boost::system::system_error& error) {
          failure = error.code();
        }
      });
  std::thread follower{[&] { context.run(); }};
  const Client other{beside(client, server.connect_string())};
  SharedCount others{other, "/count"};
  std::string trouble;
  try {
    Count now = others.load();
    for (std::int32_t value = 1; value <= last; ++value) {
      if (value % 10 == 5) server.restart();
      // A write that was pending when the server stopped may have been applied, so the value is
      // loaded.
      while (now.value < value) {
        try {
          static_cast<void>(others.compare_exchange(now, value));
        } catch (const Error& error) {
          if (error.code() != ErrorCondition::outcome_unknown) throw;
          now = others.load();
        }
      }
    }
  } catch (const std::exception& error) {  // the server may throw; the thread is joined anyway
    trouble = error.what();
    context.stop();
  }
  CHECK(trouble == "");
  follower.join();
  CHECK_FALSE(failure);
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.back().value == last);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    CHECK(seen[i].mzxid > seen[i - 1].mzxid);
    CHECK(seen[i].value > seen[i - 1].value);
  }
}

TEST_CASE(
    "a listener hears of each value that stays through restarts and a lost session, in order") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"listener", server.connect_string()};
  SharedCount count{*client, "/count"};
  const Client other{beside(client, server.connect_string())};
  SharedCount others{other, "/count"};
  std::mutex mutex;
  std::vector<Count> heard;
  const auto newest = [&] {
    const std::lock_guard lock{mutex};
    return heard.empty() ? Count{} : heard.back();
  };
  Subscription subscription = count.on_change([&](const Count& value) {
    const std::lock_guard lock{mutex};
    heard.push_back(value);
  });
  for (std::int32_t value = 1; value <= 12; ++value) {
    if (value == 4) server.restart();
    if (value == 8) {
      const SessionInfo session = client->session();
      server.expire_session(session.id, session.password);
    }
    // A store whose reply is lost may have been applied.
    const error_code error = error_of([&] { others.store(value); });
    if (error) CHECK(error == ErrorCondition::outcome_unknown);
    if (value % 4 == 0) {
      const Count now = others.load();
      REQUIRE(eventually([&] { return newest() == now; }));
      CHECK(count.last_known() == now);
    }
  }
  subscription.reset();
  CHECK(eventually([&] { return client->load().watches == 0; }));
  for (std::size_t i = 1; i < heard.size(); ++i) CHECK(heard[i].mzxid > heard[i - 1].mzxid);
}

TEST_CASE(
    "listeners come and go on many threads while the value changes, and leave nothing behind") {
  TestClient client{"listeners"};
  SharedCount count{*client, "/count"};
  const Client other{beside(client)};
  SharedCount others{other, "/count"};
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        Subscription subscription = count.on_change([&calls](const Count&) { ++calls; });
        if ((i + k) % 3 == 0) std::this_thread::yield();
        if ((i + k) % 3 == 1) {
          const int before = calls;
          static_cast<void>(eventually([&] { return calls > before; }, 20ms));
        }
        subscription.reset();
      }
    });
  }
  for (std::int32_t value = 1; value <= 50; ++value) others.store(value);
  for (std::thread& thread : threads) thread.join();
  CHECK(eventually([&] { return client->load().watches == 0; }));
  CHECK(eventually([&] { return client->load().operations == 0; }));
}

TEST_CASE("a wait goes on in the next session when its own is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient client{"session"};
  SharedCount count{*client, "/count"};
  const Count known = count.load();
  auto newer = begun<Count>([&](auto done) { count.async_wait(known, done); });
  REQUIRE(eventually([&] { return is_watching(*client); }));
  const SessionInfo session = client->session();
  own_server().expire_session(session.id, session.password);
  REQUIRE(eventually([&] {
    const std::int64_t id = client->session().id;
    return id != 0 && id != session.id && is_watching(*client);
  }));
  CHECK(newer.wait_for(0s) == std::future_status::timeout);
  const Client other{beside(client)};
  SharedCount{other, "/count"}.store(4);
  REQUIRE(newer.wait_for(patience) == std::future_status::ready);
  const auto [error, value] = newer.get();
  CHECK_FALSE(error);
  CHECK(value.value == 4);
}

}  // namespace
}  // namespace custodian::tests::shared_value_wait_test
