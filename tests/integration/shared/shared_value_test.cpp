#include "custodian/shared/shared_value.hpp"

#include <barrier>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>

#include "custodian/shared/shared_count.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::shared_value_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

using Count = Versioned<std::int32_t>;

/// Options for another client below the test's root.
ClientOptions beside(const TestClient& client, std::string servers = connect_string()) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  return options;
}

TEST_CASE("a shared value is created with its seed, read and written") {
  TestClient client{"value"};
  SharedValue value{*client, "/a/b/value", "the seed"};
  CHECK(value.path() == "/a/b/value");
  CHECK_FALSE(client->exists("/a"));
  const auto first = value.load();
  CHECK(first.value == "the seed");
  CHECK(first.version == 0);
  const Stat stat = client->exists("/a/b/value").value();
  CHECK(first.mzxid == stat.mzxid);
  CHECK(stat.ephemeral_owner == 0);
  value.store("another");
  const auto second = value.load();
  CHECK(second.value == "another");
  CHECK(second.version == 1);
  CHECK(second.mzxid > first.mzxid);
  CHECK(client->get("/a/b/value").data == "another");
  // The seed of a later object is ignored: the value exists.
  CHECK(SharedValue{*client, "/a/b/value", "too late"}.load() == second);
}

TEST_CASE("a store makes the node that is missing") {
  TestClient client{"store"};
  SharedCount count{*client, "/a/count", 1};
  count.store(-2);
  CHECK(client->get("/a/count").data == std::string{"\xff\xff\xff\xfe"});
  CHECK(count.load().value == -2);
}

TEST_CASE("a compare_exchange succeeds by version, or tells what is there") {
  TestClient client{"exchange"};
  SharedValue value{*client, "/value", "0"};
  auto expected = value.load();
  const auto old = expected;
  CHECK(value.compare_exchange(expected, "1"));
  // `expected` is the written value with its version, so the next write needs no load.
  CHECK(expected == value.load());
  CHECK(expected.value == "1");
  auto stale = old;
  CHECK_FALSE(value.compare_exchange(stale, "2"));
  CHECK(stale == expected);
  CHECK(value.compare_exchange(expected, "2"));
  CHECK(value.load().value == "2");
  // The value is the old one again, but written by another write.
  value.store("0");
  expected = old;
  CHECK_FALSE(value.compare_exchange(expected, "3"));
  CHECK(expected.value == "0");
  CHECK(expected.version == 3);
}

TEST_CASE("concurrent increments of several clients lose nothing") {
  TestClient client{"increments"};
  constexpr int clients = 4;
  constexpr int rounds = 50;
  std::atomic<int> certain = 0;
  std::atomic<int> doubtful = 0;  // only if a busy machine loses a connection
  std::atomic<int> failures = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < clients; ++i) {
    workers.emplace_back([&] {
      const Client mine{beside(client)};
      SharedCount count{mine, "/count", 100};
      for (int k = 0; k < rounds; ++k) {
        const error_code error = error_of([&] {
          Count now = count.load();
          while (!count.compare_exchange(now, now.value + 1)) {
          }
        });
        if (!error) {
          ++certain;
        } else if (error == ErrorCondition::outcome_unknown) {
          ++doubtful;
        } else {
          ++failures;
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(failures == 0);
  CHECK(certain + doubtful == clients * rounds);
  const Count in_the_end = SharedCount{*client, "/count"}.load();
  // Every write added one: none was based on an overwritten value.
  CHECK(in_the_end.value == 100 + in_the_end.version);
  CHECK(in_the_end.version >= certain);
  CHECK(in_the_end.version <= certain + doubtful);
}

TEST_CASE("of racing creators one wins, and all see its seed") {
  TestClient client{"racing"};
  constexpr std::size_t creators = 4;
  constexpr std::size_t rounds = 20;
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < creators; ++i)
    clients.push_back(std::make_unique<Client>(beside(client)));
  for (const auto& each : clients) each->wait_connected({patience});
  std::vector<std::vector<Count>> seen(creators, std::vector<Count>(rounds));
  std::atomic<int> failures = 0;
  std::barrier together{creators};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < creators; ++i) {
    workers.emplace_back([&, i] {
      for (std::size_t k = 0; k < rounds; ++k) {
        together.arrive_and_wait();
        try {
          const SharedCount count{*clients[i], "/p" + std::to_string(k) + "/count",
                                  static_cast<std::int32_t>(i)};
          seen[i][k] = count.load();
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(failures == 0);
  for (std::size_t i = 1; i < creators; ++i) CHECK(seen[i] == seen[0]);
  for (const Count& each : seen[0]) CHECK(each.version == 0);
}

TEST_CASE("a wait ends with the next write, and at once with one that was before it") {
  TestClient client{"wait"};
  SharedCount count{*client, "/count"};
  const Client other{beside(client)};
  SharedCount others{other, "/count"};
  const Count known = count.load();
  auto newer = begun<Count>([&](auto done) { count.async_wait(known, done); });
  REQUIRE(eventually([&] { return client->load().watches == 1; }));
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
  REQUIRE(eventually([&] { return client->load().watches == 1; }));
  signal.emit(asio::cancellation_type::total);
  REQUIRE(newer.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(newer.get()) == asio::error::operation_aborted);

  std::stop_source source;
  error_code error;
  std::thread waiter{
      [&] { error = error_of([&] { static_cast<void>(count.wait(known, source.get_token())); }); }};
  CHECK(eventually([&] { return client->load().watches == 1; }));
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
      // A write that was pending when the server stopped may have been applied: load the value.
      while (now.value < value) {
        try {
          static_cast<void>(others.compare_exchange(now, value));
        } catch (const Error& error) {
          if (error.code() != ErrorCondition::outcome_unknown) throw;
          now = others.load();
        }
      }
    }
  } catch (const std::exception& error) {  // perhaps of the server; the thread must still be joined
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
  REQUIRE(eventually([&] { return client->load().watches == 1; }));
  const SessionInfo session = client->session();
  own_server().expire_session(session.id, session.password);
  REQUIRE(eventually([&] {
    const std::int64_t id = client->session().id;
    return id != 0 && id != session.id && client->load().watches == 1;
  }));
  CHECK(newer.wait_for(0s) == std::future_status::timeout);
  const Client other{beside(client)};
  SharedCount{other, "/count"}.store(4);
  REQUIRE(newer.wait_for(patience) == std::future_status::ready);
  const auto [error, value] = newer.get();
  CHECK_FALSE(error);
  CHECK(value.value == 4);
}

TEST_CASE("a node that was deleted and made anew is another write, whatever its version") {
  TestClient client{"anew"};
  SharedCount count{*client, "/count", 5};
  const Count old = count.load();
  client->remove("/count");
  const Count anew = count.wait(old);
  CHECK(anew.value == old.value);
  CHECK(anew.version == old.version);
  CHECK(anew.mzxid > old.mzxid);
  count.store(6);
  client->remove("/count");
  Count expected = old;
  expected.version = 1;
  // The node is missing, so it is created with the seed.
  CHECK_FALSE(count.compare_exchange(expected, 7));
  CHECK(expected.value == 5);
  CHECK(expected.version == 0);
  CHECK(count.compare_exchange(expected, 7));
}

TEST_CASE("a node with other data than a count's is an error that says so") {
  TestClient client{"bad-data"};
  client->create("/count", "abc");
  SharedCount count{*client, "/count"};
  CHECK(error_of([&] { static_cast<void>(count.load()); }) == Errc::malformed_data);
  CHECK(error_of([&] { static_cast<void>(count.wait({})); }) == Errc::malformed_data);
  const std::string message = message_of([&] { static_cast<void>(count.load()); });
  CHECK(message.find("load /count") != std::string::npos);
  count.store(8);
  CHECK(count.load().value == 8);
}

TEST_CASE("a path or a value that cannot be is refused before anything is sent") {
  TestClient client{"refused"};
  const auto refused = [](auto call) { return error_of(call) == Errc::invalid_argument; };
  for (const char* path : {"", "count", "/a//b", "/a/", "/"}) {
    INFO(path);
    CHECK(refused([&] { SharedCount(*client, path); }));
    CHECK(refused([&] { SharedValue(*client, path); }));
  }
  const std::string much(2'000'000, 'x');
  CHECK(refused([&] { SharedValue(*client, "/value", much); }));
  SharedValue value{*client, "/value"};
  CHECK(refused([&] { value.store(much); }));
  CHECK(refused([&] { value.async_store(much, [](error_code) {}); }));
  auto expected = value.load();
  CHECK(refused([&] { static_cast<void>(value.compare_exchange(expected, much)); }));
}

TEST_CASE("a handle that outlives its client says closed") {
  TestClient client{"outlived"};
  std::optional<SharedCount> count;
  {
    const Client other{beside(client)};
    count.emplace(other, "/count");
    static_cast<void>(count->load());
  }
  CHECK(error_of([&] { static_cast<void>(count->load()); }) == Errc::closed);
  CHECK(error_of([&] { count->store(1); }) == Errc::closed);
  CHECK(error_of([&] { static_cast<void>(count->wait({})); }) == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::shared_value_test
