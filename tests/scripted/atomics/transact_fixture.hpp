#pragma once

/// \file
/// transact() over a fake ensemble: two accounts, and transfers between them.

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/atomics/transact.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::accounts {

namespace asio = boost::asio;

inline constexpr auto from = "/bank/from";
inline constexpr auto to = "/bank/to";
inline constexpr int all_money = 100;

inline asio::awaitable<int> balance(TransactionView view, std::string path) {
  const std::optional<std::string> text = co_await view.async_get(path, asio::use_awaitable);
  co_return std::stoi(text.value());
}

inline asio::awaitable<void> move_money(TransactionView view, int amount) {
  const std::string debtor = from;
  const std::string creditor = to;
  const int left = co_await balance(view, debtor);
  const int right = co_await balance(view, creditor);
  view.set(debtor, std::to_string(left - amount));
  view.set(creditor, std::to_string(right + amount));
}

/// Moves `amount` from one account to the other.
inline std::function<asio::awaitable<void>(TransactionView)> transfer(int amount) {
  return [amount](TransactionView view) { return move_money(std::move(view), amount); };
}

/// The account `to` gets what the account `from` has.
inline asio::awaitable<void> copy_balance(TransactionView view) {
  const std::string source = from;
  const auto seen = co_await view.async_get(source, asio::use_awaitable);
  view.set(to, seen.value());
}

struct Fixture {
  explicit Fixture(Settle settle = Settle::left_to_caller)
      : options{.contention = RetryPolicy::forever(std::chrono::milliseconds{1}),
                .settle = settle,
                .witness_below = settle == Settle::exactly_once ? "/bank" : ""} {
    client = world.client("observed");
    world.make("/bank");
    world.make(from, std::to_string(all_money));
    world.make(to, "0");
  }
  ~Fixture() {
    world.ensemble.set_fault_plan(nullptr);
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return is_connected(client->connection_state()); }));
    CHECK(world.end(client));
    // The end of the session deletes the witnesses of tries with an unknown outcome, which live as
    // long as the session.
    CHECK(world.run_until([&] { return world.ensemble.children("/bank").size() == 2; }));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] std::string data(const std::string& path) {
    return world.ensemble.operate(request::Get{path}).data;
  }
  [[nodiscard]] int moved() { return std::stoi(data(to)); }
  [[nodiscard]] bool is_sound() { return std::stoi(data(from)) + moved() == all_money; }
  [[nodiscard]] Outcome<> move(int amount) {
    return run<>(world,
                 [&](auto done) { async_transact(*client, transfer(amount), options, done); });
  }

  World world;
  std::unique_ptr<Client> client;
  const TransactOptions options;
};

}  // namespace custodian::tests::accounts
