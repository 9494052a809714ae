// Calls of transact() whose requests are refused, each in its turn, for lack of permission.

#include <boost/asio/use_awaitable.hpp>

#include "custodian/atomics/transact.hpp"
#include "scripted/atomics/transact_fixture.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::transact_refusals_test {
namespace {

namespace asio = boost::asio;

void prepare(OrderScene& scene) {
  scene.world.make("/bank");
  scene.world.make(accounts::from, "100");
  scene.world.make(accounts::to, "0");
}

void transfer(OrderScene& scene, const TransactOptions& options = {}) {
  scene.run<>(
      [&](auto done) { async_transact(scene.client, accounts::transfer(1), options, done); });
}

const TransactOptions once{.settle = Settle::exactly_once, .witness_below = "/bank"};

/// Another client writes to what is read, before the first commit.
struct Meddler {
  World& world;
  bool has_meddled = false;

  asio::awaitable<void> operator()(TransactionView view) {
    const std::string source = accounts::from;
    const auto seen = co_await view.async_get(source, asio::use_awaitable);
    if (!std::exchange(has_meddled, true)) {
      world.ensemble.operate(request::Set{accounts::from, "99", any_version});
    }
    view.set(accounts::to, seen.value());
  }
};

asio::awaitable<void> create_and_remove(TransactionView view) {
  const std::string missing = "/bank/new";
  const auto seen = co_await view.async_get(missing, asio::use_awaitable);
  if (seen) {
    view.remove(missing);
  } else {
    view.create(missing, "data");
  }
}

asio::awaitable<void> only_read(TransactionView view) {
  const std::string source = accounts::from;
  co_await view.async_get(source, asio::use_awaitable);
}

TEST_CASE("refusals: a transaction that moves money", "[refusals]") {
  play_every_refusal("get! get! multi!", [](OrderScene& scene) {
    prepare(scene);
    scene.begin();
    transfer(scene);
  });
}

TEST_CASE("refusals: a transaction with a witness", "[refusals]") {
  play_every_refusal("get! get! multi! remove", [](OrderScene& scene) {
    prepare(scene);
    scene.begin();
    transfer(scene, once);
  });
}

TEST_CASE("refusals: a transaction that another client comes in front of", "[refusals]") {
  for (const TransactOptions& options : {TransactOptions{}, once}) {
    const bool is_plain = options.settle == Settle::left_to_caller;
    play_every_refusal(is_plain ? "get! multi! get! multi!" : "get! multi! get! multi! remove",
                       [&](OrderScene& scene) {
                         prepare(scene);
                         const auto meddler = std::make_shared<Meddler>(Meddler{scene.world});
                         scene.begin();
                         scene.run<>([&](auto done) {
                           const auto meddle = [meddler](TransactionView view) {
                             return (*meddler)(std::move(view));
                           };
                           async_transact(scene.client, meddle, options, done);
                         });
                       });
  }
}

TEST_CASE("refusals: a transaction that creates a node, and one that removes it", "[refusals]") {
  play_every_refusal("get~ multi! get! multi!", [](OrderScene& scene) {
    prepare(scene);
    scene.begin();
    for (int i = 0; i < 2; ++i) {
      scene.run<>([&](auto done) { async_transact(scene.client, create_and_remove, {}, done); });
    }
  });
}

TEST_CASE("refusals: a transaction that writes nothing", "[refusals]") {
  for (const TransactOptions& options : {TransactOptions{}, once}) {
    const bool is_plain = options.settle == Settle::left_to_caller;
    play_every_refusal(is_plain ? "get! multi!" : "get! multi! remove", [&](OrderScene& scene) {
      prepare(scene);
      scene.begin();
      scene.run<>([&](auto done) { async_transact(scene.client, only_read, options, done); });
    });
  }
}

}  // namespace
}  // namespace custodian::tests::transact_refusals_test
