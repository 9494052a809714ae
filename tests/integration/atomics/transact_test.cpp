// transact() on a real server: its faces, and clients that transfer at once.

#include "custodian/atomics/transact.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <vector>

#include "support/test_client.hpp"

namespace custodian::tests::integration_transact_test {
namespace {

namespace asio = boost::asio;

int number_at(TransactionView& view, const std::string& path) {
  return std::stoi(view.get(path).value());
}

TEST_CASE("transact has a blocking face and one for tokens") {
  TestClient client{"transact"};
  client->create("/a", "1");
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    const TransactOptions options{.settle = settle, .witness_below = "/a"};
    const int seen = transact(
        *client,
        [](TransactionView& view) {
          const int now = number_at(view, "/a");
          view.set("/a", std::to_string(now + 1));
          CHECK(number_at(view, "/a") == now + 1);
          CHECK_FALSE(view.get("/b"));
          view.create("/b", "new");
          CHECK(view.get("/b") == "new");
          return now;
        },
        options);
    CHECK(client->get("/a").data == std::to_string(seen + 1));
    CHECK(client->get("/b").data == "new");
    const std::function<asio::awaitable<void>(TransactionView)> remove =
        [](TransactionView view) -> asio::awaitable<void> {
      const std::string path = "/b";
      const auto data = co_await view.async_get(path, asio::use_awaitable);
      if (data) view.remove(path);
    };
    async_transact(*client, remove, options, asio::use_future).get();
    CHECK_FALSE(client->exists("/b"));
    CHECK(eventually([&] { return client->children("/a").names.empty(); }));
  }
}

TEST_CASE("transact throws what its function throws, and what the servers refuse") {
  TestClient client{"transact-errors"};
  client->create("/a", "1");
  const auto attempt = [&](auto function) { transact(*client, function); };
  CHECK_THROWS_AS(attempt([](TransactionView&) { throw std::logic_error{"no"}; }),
                  std::logic_error);
  const auto code_of = [&](auto function) {
    try {
      attempt(function);
    } catch (const Error& error) {
      return error.code();
    }
    return error_code{};
  };
  CHECK(code_of([](TransactionView& view) { view.set("/missing", "1"); }) == ServerErrc::no_node);
  CHECK(code_of([](TransactionView& view) {
          if (!view.get("/missing")) view.set("/missing", "1");
        }) == ServerErrc::no_node);
  CHECK(code_of([](TransactionView& view) { view.create("/a"); }) == ServerErrc::node_exists);
  CHECK(code_of([](TransactionView& view) { static_cast<void>(view.get("relative")); }) ==
        Errc::invalid_argument);
  CHECK(client->get("/a").data == "1");
  CHECK_THROWS_AS(transact(*client, [](TransactionView&) {}, {.settle = Settle::exactly_once}),
                  Error);
}

TEST_CASE("transfers of four clients lose nothing and make nothing") {
  TestClient client{"transfers"};
  const std::vector<std::string> accounts{"/a", "/b", "/c"};
  for (const std::string& each : accounts) client->create(each, "1000");
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) {
    ClientOptions options = options_for(client.servers());
    options.name_space = client.root();
    options.operation_timeout = patience;
    clients.push_back(std::make_unique<Client>(std::move(options)));
  }
  constexpr int transfers = 25;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < transfers; ++k) {
        const std::string& from = accounts[(i + static_cast<std::size_t>(k)) % 3];
        const std::string& to = accounts[(i + static_cast<std::size_t>(k) + 1) % 3];
        transact(*clients[i], [&](TransactionView& view) {
          const int left = number_at(view, from);
          view.set(from, std::to_string(left - 1));
          view.set(to, std::to_string(number_at(view, to) + 1));
        });
      }
    });
  }
  threads.clear();
  int sum = 0;
  int writes = 0;
  client->sync("/");
  for (const std::string& each : accounts) {
    const GetResult now = client->get(each);
    sum += std::stoi(now.data);
    writes += now.stat.version;
  }
  CHECK(sum == 3000);
  CHECK(writes == 2 * transfers * 4);
}

}  // namespace
}  // namespace custodian::tests::integration_transact_test
