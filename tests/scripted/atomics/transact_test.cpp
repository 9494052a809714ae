// transact() over a fake ensemble, without faults.

#include <limits>
#include <utility>

#include "scripted/atomics/lost_transaction.hpp"
#include "scripted/atomics/transact_fixture.hpp"

namespace custodian::tests::transact_test {
namespace {

using namespace accounts;

TEST_CASE("transact: several nodes are read and written as one", "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Fixture fixture{settle};
    CHECK_FALSE(fixture.move(30).error());
    CHECK_FALSE(fixture.move(5).error());
    CHECK(fixture.moved() == 35);
    CHECK(fixture.is_sound());
    CHECK(fixture.world.run_until_idle(*fixture.client));
    CHECK(fixture.world.ensemble.children("/bank").size() == 2);
  }
}

TEST_CASE("transact: a function is called again when another client has written", "[atomics]") {
  Fixture fixture;
  const auto plan = std::make_shared<FaultsAt>("observed");
  int disturbances = 3;
  plan->submitted = [&](std::size_t step) {
    // Before each commit.
    if (step % 3 == 2 && disturbances-- > 0) {
      fixture.world.ensemble.operate(request::Set{from, std::to_string(all_money)});
    }
  };
  fixture.world.ensemble.set_fault_plan(plan);
  CHECK_FALSE(fixture.move(10).error());
  CHECK(plan->steps() == 12);
  CHECK(fixture.is_sound());
}

TEST_CASE("transact: what was only read is checked, too", "[atomics]") {
  Fixture fixture;
  int calls = 0;
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) {
    if (step == 1) fixture.world.ensemble.operate(request::Set{from, "7"});
  };
  fixture.world.ensemble.set_fault_plan(plan);
  const auto copy = [&](TransactionView view) {
    ++calls;
    return copy_balance(std::move(view));
  };
  const std::function<asio::awaitable<void>(TransactionView)> function = copy;
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, function, fixture.options, done);
  });
  CHECK_FALSE(ended.error());
  CHECK(calls == 2);
  CHECK(fixture.data(to) == "7");
}

TEST_CASE("transact: tries are limited by the options, and leave nothing to look for",
          "[atomics]") {
  const auto settle = GENERATE(Settle::left_to_caller, Settle::exactly_once);
  Fixture fixture{settle};
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) {
    if (step % 3 == 2) fixture.world.ensemble.operate(request::Set{to, "0"});
  };
  fixture.world.ensemble.set_fault_plan(plan);
  TransactOptions twice = fixture.options;
  twice.contention = RetryPolicy::n_times(1, std::chrono::milliseconds{0});
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, transfer(10), twice, done);
  });
  CHECK(ended.error() == ServerErrc::bad_version);
  CHECK(plan->steps() == 6);
  CHECK(fixture.moved() == 0);
  fixture.world.ensemble.clear_history();
  fixture.world.run_for(std::chrono::milliseconds{100});  // within which a client looks for strays
  CHECK(fixture.world.ensemble.history().empty());
}

TEST_CASE("transact: tries and repetitions are limited by their time, if options say so",
          "[atomics]") {
  const RetryPolicy briefly = RetryPolicy::until_elapsed(brief_limit, std::chrono::milliseconds{1});
  Fixture fixture{Settle::exactly_once};
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t) { fixture.world.ensemble.operate(request::Set{to, "0"}); };
  fixture.world.ensemble.set_fault_plan(plan);
  TransactOptions options = fixture.options;
  options.contention = briefly;
  const auto refused = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, transfer(10), options, done);
  });
  CHECK(refused.error() == ServerErrc::bad_version);
  ClientOptions hasty = fixture.world.options("hasty");
  hasty.retry = briefly;
  auto client = fixture.world.client(std::move(hasty));
  fixture.world.ensemble.set_fault_plan(std::make_shared<LostTransaction>(
      "hasty", Fault{.kind = FaultKind::fail_before}, std::numeric_limits<int>::max()));
  const auto lost = run<>(fixture.world,
                          [&](auto done) { async_transact(*client, transfer(10), options, done); });
  CHECK(lost.error() == ServerErrc::connection_loss);
  CHECK(fixture.moved() == 0);
  CHECK(fixture.world.run_until_idle(*client));
  CHECK(fixture.world.end(client));
}

TEST_CASE("transact: a missing node is created by one client only", "[atomics]") {
  Fixture fixture;
  static const std::string first = "/bank/first";
  static const std::string none = "/bank/none";
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) {
    if (step == 2) fixture.world.make(first, "other");
  };
  fixture.world.ensemble.set_fault_plan(plan);
  const auto claim = [](TransactionView view) -> asio::awaitable<void> {
    const auto seen = co_await view.async_get(first, asio::use_awaitable);
    const auto nothing = co_await view.async_get(none, asio::use_awaitable);
    CHECK_FALSE(nothing);
    if (!seen) view.create(first, "mine");
  };
  const std::function<asio::awaitable<void>(TransactionView)> function = claim;
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, function, fixture.options, done);
  });
  CHECK_FALSE(ended.error());
  CHECK(fixture.data(first) == "other");
  CHECK_FALSE(fixture.world.ensemble.exists(none));
  fixture.world.remove(first);
}

/// Gives the account `to` what the account `from` has, which it reads twice at once.
asio::awaitable<void> copy_what_is_read_twice(TransactionView view) {
  const auto first = std::make_shared<std::optional<std::string>>();
  const std::string source = from;
  view.async_get(source, [first](error_code, std::optional<std::string> data) { *first = data; });
  const auto second = co_await view.async_get(source, asio::use_awaitable);
  CHECK(*first == second);
  view.set(to, first->value());
}

TEST_CASE("transact: parallel reads of a node show one value, which is checked", "[atomics]") {
  Fixture fixture;
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) {
    if (step == 1) fixture.world.ensemble.operate(request::Set{from, "7"});
  };
  fixture.world.ensemble.set_fault_plan(plan);
  int calls = 0;
  const auto copy_first = [&calls](TransactionView view) {
    ++calls;
    return copy_what_is_read_twice(std::move(view));
  };
  const std::function<asio::awaitable<void>(TransactionView)> function = copy_first;
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, function, fixture.options, done);
  });
  CHECK_FALSE(ended.error());
  CHECK(calls == 2);
  CHECK(fixture.data(to) == "7");
}

TEST_CASE("transact: a node whose version means any version cannot be checked", "[atomics]") {
  Fixture fixture;
  fixture.world.ensemble.set_version(from, -1);
  CHECK(fixture.move(10).error() == Errc::sequence_exhausted);
  CHECK(fixture.moved() == 0);
  fixture.world.ensemble.operate(request::Set{from, std::to_string(all_money)});
  CHECK_FALSE(fixture.move(10).error());
}

TEST_CASE("transact: exactly once without a place for the witness is refused by name",
          "[atomics]") {
  Fixture fixture;
  TransactOptions options = fixture.options;
  options.settle = Settle::exactly_once;
  std::string text;
  try {
    async_transact(*fixture.client, transfer(1), options, [](error_code) {});
  } catch (const Error& refused) {
    text = refused.what();
  }
  CHECK(text.find("witness_below: ") != std::string::npos);
}

TEST_CASE("transact: what is no path is not read", "[atomics]") {
  World world;
  ClientOptions options = world.options("observed");
  options.name_space = "/app";
  auto client = world.client(std::move(options));
  world.make("/application", "another's");
  const std::function<asio::awaitable<void>(TransactionView)> function =
      [](TransactionView view) -> asio::awaitable<void> {
    static const std::string relative = "lication";
    static_cast<void>(co_await view.async_get(relative, asio::use_awaitable));
  };
  const auto ended = run<>(world, [&](auto done) { async_transact(*client, function, {}, done); });
  CHECK(ended.error() == Errc::invalid_argument);
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("transact: a function that throws changes nothing", "[atomics]") {
  Fixture fixture;
  const auto fail = [](TransactionView view) -> asio::awaitable<void> {
    view.set(to, "1000");
    throw std::bad_alloc{};
    co_return;
  };
  const std::function<asio::awaitable<void>(TransactionView)> function = fail;
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, function, fixture.options, done);
  });
  CHECK(ended.error() == boost::system::errc::not_enough_memory);
  CHECK(fixture.moved() == 0);
}

}  // namespace
}  // namespace custodian::tests::transact_test
