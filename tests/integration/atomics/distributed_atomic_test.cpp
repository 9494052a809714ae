// Distributed atomics on a real server: their faces, and several clients that add at once while
// their connections are cut.

#include <algorithm>
#include <atomic>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "custodian/atomics/cached_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_value.hpp"
#include "custodian/shared/shared_count.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_server.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::distributed_atomic_test {
namespace {

using namespace std::chrono_literals;
using testing::ConnectionFactory;

TEST_CASE("an atomic number has std::atomic's face") {
  TestClient client{"atomic"};
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    const std::string path = settle == Settle::exactly_once ? "/a/once" : "/a/plain";
    DistributedAtomicLong number{*client, path, {.settle = settle}};
    CHECK(number.load() == Versioned<std::int64_t>{});
    CHECK(number.initialize(5));
    CHECK_FALSE(number.initialize(6));
    CHECK(++number == 6);
    CHECK(number++ == 6);
    CHECK(--number == 6);
    CHECK(number-- == 6);
    CHECK((number += 10) == 15);
    CHECK((number -= 20) == -5);
    CHECK(number.fetch_max(3).before.value == -5);
    CHECK_FALSE(number.fetch_max(2).written);
    CHECK(number.fetch_min(1).after.value == 1);
    CHECK(number.exchange(40).before.value == 1);
    number.store(41);
    auto now = number.load();
    CHECK(now.value == 41);
    auto stale = now;
    CHECK(number.compare_exchange(now, 42));
    CHECK(now == number.load());
    CHECK_FALSE(number.compare_exchange(stale, 0));
    CHECK(stale == now);
    std::int64_t expected = 7;
    CHECK_FALSE(number.compare_exchange(expected, 1));
    CHECK(expected == 42);
    CHECK(number.compare_exchange(expected, 43));
    const auto added = number.async_fetch_add(1, boost::asio::use_future).get();
    CHECK(added.after.value == 44);
    CHECK(added.after == number.load());
    CHECK(client->get(path).data == std::string("\0\0\0\0\0\0\0\x2c", 8));
  }
}

TEST_CASE("an atomic integer and a shared count share a node") {
  TestClient client{"integer"};
  SharedCount count{*client, "/count", 3};
  const auto known = count.load();
  DistributedAtomicInteger number{*client, "/count", {.settle = Settle::exactly_once}};
  CHECK(++number == 4);
  CHECK(count.wait(known).value == 4);
}

TEST_CASE("an atomic's witness is one ephemeral child, and goes with the last handle") {
  TestClient client{"witness"};
  {
    DistributedAtomicValue text{*client, "/text", {.settle = Settle::exactly_once}};
    const DistributedAtomicValue twin = text;
    const auto append = [](const std::string& now) { return std::optional{now + "x"}; };
    CHECK(text.update(append).after.value == "x");
    CHECK(text.update(append).after.value == "xx");
    const auto children = client->children("/text").names;
    REQUIRE(children.size() == 1);
    const Stat stat = client->exists("/text/" + children.front()).value();
    CHECK(stat.ephemeral_owner == client->session().id);
    CHECK(stat.version == 2);
  }
  CHECK(eventually([&] { return client->children("/text").names.empty(); }));
}

TEST_CASE("an atomic number's updates are promoted to a lock") {
  TestClient client{"promoted"};
  DistributedAtomicLong number{
      *client, "/number", {.settle = Settle::exactly_once, .promoted = PromotedToLock{"/lock", 0}}};
  const auto done = number.fetch_add(2);
  CHECK(done.promoted);
  CHECK(done.after.value == 2);
  CHECK(eventually([&] { return client->children("/lock").names.empty(); }));
}

TEST_CASE("threads of two clients get numbers that nobody else gets") {
  TestClient client{"numbers"};
  ClientOptions options = options_for(client.servers());
  options.name_space = client.root();
  const Client other{options};
  CachedAtomicLong ours{DistributedAtomicLong{*client, "/numbers"}, {.chunk = 50}};
  CachedAtomicLong others{DistributedAtomicLong{other, "/numbers"}, {.chunk = 7, .prefetch_at = 0}};
  constexpr int each = 400;
  std::vector<std::vector<std::int64_t>> taken(6);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    threads.emplace_back([&, i, numbers = i % 2 == 0 ? ours : others]() mutable {
      for (int k = 0; k < each; ++k) taken[i].push_back(numbers.next());
    });
  }
  threads.clear();
  std::set<std::int64_t> all;
  for (const auto& mine : taken) {
    CHECK(mine.size() == each);
    CHECK(std::ranges::is_sorted(mine));
    all.insert(mine.begin(), mine.end());
  }
  CHECK(all.size() == taken.size() * each);
}

// -- A storm --------------------------------------------------------------------------------------

struct StormSettings {
  ConnectionFactory connection_factory = ConnectionFactory::nio;
  Settle settle = Settle::exactly_once;
  int clients = 4;
  int threads_each = 2;
  int additions = 15;  ///< of each thread
};

struct StormResult {
  std::int64_t certain = 0;
  std::int64_t unknown = 0;
  std::int64_t failed = 0;
  std::int64_t value = 0;
  int cuts = 0;
};

/// Clients add over connections that lose their replies again and again.
StormResult storm(const StormSettings& settings) {
  testing::TestingServerOptions server_options;
  server_options.connection_factory = settings.connection_factory;
  const Server server{server_options};
  std::vector<std::unique_ptr<testing::FaultProxy>> proxies;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < settings.clients; ++i) {
    proxies.push_back(std::make_unique<testing::FaultProxy>(server.endpoint()));
    ClientOptions options = options_for(proxies.back()->connect_string());
    options.retry = RetryPolicy::forever(5ms);
    options.operation_timeout = 2 * patience;
    options.session_timeout = patience;
    clients.push_back(std::make_unique<Client>(std::move(options)));
  }
  std::atomic<std::int64_t> certain = 0;
  std::atomic<std::int64_t> unknown = 0;
  std::atomic<std::int64_t> failed = 0;
  std::atomic<int> working = settings.clients * settings.threads_each;
  std::vector<std::jthread> threads;
  for (const auto& client : clients) {
    for (int k = 0; k < settings.threads_each; ++k) {
      threads.emplace_back([&, number = DistributedAtomicLong{
                                   *client, "/storm", {.settle = settings.settle}}]() mutable {
        for (int i = 0; i < settings.additions; ++i) {
          try {
            ++number;
            ++certain;
          } catch (const Error& error) {
            ++(error.code() == ErrorCondition::outcome_unknown ? unknown : failed);
          }
        }
        --working;
      });
    }
  }
  StormResult result;
  std::minstd_rand random{1};
  while (working > 0) {
    auto& proxy = *proxies[random() % proxies.size()];
    // The next requests are applied, and the reply to the last of them is lost.
    proxy.cut_after_replies(1 + random() % 4, testing::LastReply::is_lost);
    ++result.cuts;
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 20});
  }
  threads.clear();
  result.certain = certain;
  result.unknown = unknown;
  result.failed = failed;
  const Client observer{options_for(server.connect_string())};
  observer.sync("/");
  result.value = DistributedAtomicLong{observer, "/storm"}.load().value;
  return result;
}

void report(const StormResult& result) {
  WARN(result.certain << " additions, " << result.unknown << " unknown, " << result.failed
                      << " failed, value " << result.value << ", " << result.cuts << " cuts");
}

TEST_CASE("additions count exactly once while connections are cut") {
  for (const auto factory : {ConnectionFactory::nio, ConnectionFactory::netty}) {
    const StormResult result = storm({.connection_factory = factory});
    report(result);
    CHECK(result.failed == 0);
    CHECK(result.unknown == 0);
    CHECK(result.value == result.certain);
  }
}

TEST_CASE("without a witness additions are off by no more than the unknown outcomes") {
  const StormResult result = storm({.settle = Settle::left_to_caller});
  report(result);
  CHECK(result.failed == 0);
  CHECK(result.certain <= result.value);
  CHECK(result.value <= result.certain + result.unknown);
}

TEST_CASE("eight clients add a thousand times each, with and without a witness", "[.long]") {
  for (const auto factory : {ConnectionFactory::nio, ConnectionFactory::netty}) {
    for (const Settle settle : {Settle::exactly_once, Settle::left_to_caller}) {
      const StormResult result = storm({.connection_factory = factory,
                                        .settle = settle,
                                        .clients = 8,
                                        .threads_each = 1,
                                        .additions = 1000});
      report(result);
      CHECK(result.certain <= result.value);
      CHECK(result.value <= result.certain + result.unknown);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::distributed_atomic_test
