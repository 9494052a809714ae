#include "custodian/shared/shared_value.hpp"

#include <barrier>

#include "custodian/shared/shared_count.hpp"
#include "integration/shared/shared_values.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::shared_value_test {
namespace {

using shared_values::beside;
using shared_values::Count;

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
  std::atomic<int> doubtful = 0;  // counts only if a busy machine loses a connection
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
  // Each write added one, so none was based on a value that had been overwritten.
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
