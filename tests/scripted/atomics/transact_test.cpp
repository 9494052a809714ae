// transact() over a fake ensemble: two accounts, and transfers between them.

#include "custodian/atomics/transact.hpp"

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <limits>
#include <utility>

#include "scripted/atomics/lost_transaction.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::transact_test {

namespace asio = boost::asio;

namespace {

constexpr auto from = "/bank/from";
constexpr auto to = "/bank/to";
constexpr int all_money = 100;

asio::awaitable<int> balance(TransactionView view, std::string path) {
  const std::optional<std::string> text = co_await view.async_get(path, asio::use_awaitable);
  co_return std::stoi(text.value());
}

asio::awaitable<void> move_money(TransactionView view, int amount) {
  const std::string debtor = from;
  const std::string creditor = to;
  const int left = co_await balance(view, debtor);
  const int right = co_await balance(view, creditor);
  view.set(debtor, std::to_string(left - amount));
  view.set(creditor, std::to_string(right + amount));
}

/// Moves so much from one account to the other.
std::function<asio::awaitable<void>(TransactionView)> transfer(int amount) {
  return [amount](TransactionView view) { return move_money(std::move(view), amount); };
}

/// The account `to` gets what the account `from` has.
asio::awaitable<void> copy_balance(TransactionView view) {
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
    // The session's end takes along what a doubtful try needs for as long as it.
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

TEST_CASE("transact: tries are limited by the options", "[atomics]") {
  Fixture fixture;
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

TEST_CASE("transact: parallel reads of a node show one value, which is checked", "[atomics]") {
  Fixture fixture;
  const auto plan = std::make_shared<FaultsAt>("observed");
  plan->submitted = [&](std::size_t step) {
    if (step == 1) fixture.world.ensemble.operate(request::Set{from, "7"});
  };
  fixture.world.ensemble.set_fault_plan(plan);
  int calls = 0;
  const auto copy_first = [&calls](TransactionView view) -> asio::awaitable<void> {
    ++calls;
    const auto first = std::make_shared<std::optional<std::string>>();
    const std::string source = from;
    view.async_get(source, [first](error_code, std::optional<std::string> data) { *first = data; });
    const auto second = co_await view.async_get(source, asio::use_awaitable);
    CHECK(*first == second);
    view.set(to, first->value());
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

// -- Faults ---------------------------------------------------------------------------------------

bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

std::vector<Fault> faults_and_late_ones() {
  std::vector<Fault> all = all_faults();
  for (const int later : {1, 2, 0}) {
    all.push_back({.kind = FaultKind::apply_late, .requests_later = later});
  }
  return all;
}

const std::function<asio::awaitable<void>(TransactionView)> blind_write =
    [](TransactionView view) -> asio::awaitable<void> {
  view.set(to, "10");
  view.set(from, "90");
  co_return;
};

TEST_CASE("transact: a client that is not connected yet finds out, too", "[atomics]") {
  for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
    Fixture fixture{Settle::exactly_once};
    fixture.world.ensemble.stop();
    auto fresh = std::make_unique<Client>(fixture.world.context.get_executor(),
                                          fixture.world.options("fresh"));
    fixture.world.ensemble.set_fault_plan(
        std::make_shared<LostTransaction>("fresh", Fault{.kind = kind}));
    Outcome<> ended;
    async_transact(*fresh, blind_write, fixture.options, ended.handler());
    fixture.world.settle();
    fixture.world.ensemble.start();
    REQUIRE(fixture.world.run_until_arrived(ended));
    CHECK_FALSE(ended.error());
    CHECK(fixture.moved() == 10);
    CHECK(fixture.world.run_until_idle(*fresh));
    CHECK(fixture.world.end(fresh));
  }
}

TEST_CASE("transact: a witness that may not be deleted costs nobody the session", "[atomics]") {
  Fixture fixture{Settle::exactly_once};
  fixture.world.make("/witnesses");
  TransactOptions options = fixture.options;
  options.witness_below = "/witnesses";
  const auto plan = std::make_shared<FaultsAt>("observed");
  // Behind the commit.
  plan->replying = [&](std::size_t reply) {
    if (reply == 2) fixture.world.ensemble.refuse("/witnesses");
  };
  fixture.world.ensemble.set_fault_plan(plan);
  const std::int64_t session = fixture.client->session().id;
  const auto ended = run<>(fixture.world, [&](auto done) {
    async_transact(*fixture.client, transfer(10), options, done);
  });
  CHECK_FALSE(ended.error());
  CHECK(fixture.world.run_until_idle(*fixture.client));
  CHECK(fixture.world.ensemble.children("/witnesses").size() == 1);
  CHECK(fixture.client->session().id == session);
  fixture.world.ensemble.permit("/witnesses");
  fixture.world.ensemble.remove_tree("/witnesses");
}

enum class Function { transfer, blind };

struct Case {
  Settle settle = Settle::exactly_once;
  Function function = Function::transfer;
  std::vector<std::pair<std::size_t, Fault>> faults{};
  std::optional<std::size_t> cancelled_at{};
};

/// A transfer of ten, or a write that reads nothing, with faults. Returns the number of requests.
std::size_t play(const Case& played) {
  std::string text = played.settle == Settle::exactly_once ? "exactly once; " : "";
  if (played.function == Function::blind) text += "blind; ";
  for (const auto& [at, fault] : played.faults) {
    text += std::to_string(at) + ": " + describe(fault) + "; ";
  }
  if (played.cancelled_at) text += "cancelled at " + std::to_string(*played.cancelled_at);
  INFO(text);
  Fixture fixture{played.settle};
  asio::cancellation_signal signal;
  const auto plan = std::make_shared<FaultsAt>("observed", played.faults);
  plan->submitted = [&](std::size_t step) {
    if (played.cancelled_at == step) signal.emit(asio::cancellation_type::all);
  };
  fixture.world.ensemble.set_fault_plan(plan);
  Outcome<> ended;
  async_transact(*fixture.client, played.function == Function::blind ? blind_write : transfer(10),
                 fixture.options, asio::bind_cancellation_slot(signal.slot(), ended.handler()));
  REQUIRE(fixture.world.run_until_arrived(ended));
  const std::size_t steps = plan->steps();
  const std::int32_t version = fixture.world.ensemble.operate(request::Get{to}).stat.version;
  // Another client writes after it has ended. Nothing may come late and undo that.
  const bool is_certain = !ended.error();
  if (is_certain) {
    CHECK(fixture.moved() == 10);
    CHECK(version == 1);
    fixture.world.ensemble.operate(request::Set{to, "60"});
    fixture.world.ensemble.operate(request::Set{from, "40"});
  }
  fixture.world.ensemble.apply_late_requests();
  CHECK(fixture.is_sound());
  CHECK(fixture.moved() == (is_certain ? 60 : fixture.moved() == 0 ? 0 : 10));
  const bool cancelled = played.cancelled_at && ended.error() == asio::error::operation_aborted;
  if (is_certain || cancelled) return steps;
  if (ended.error() != ErrorCondition::outcome_unknown) {
    FAIL_CHECK("it fails: " << ended.error().message());
  }
  const bool loses_session = std::ranges::any_of(
      played.faults, [](const auto& each) { return ends_session(each.second); });
  if (played.settle == Settle::exactly_once && !loses_session) {
    FAIL_CHECK("the witness does not tell: " << ended.error().message());
  }
  return steps;
}

TEST_CASE("transact: with every fault it is applied once, or says what it does not know",
          "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    for (const Function function : {Function::transfer, Function::blind}) {
      Case each{.settle = settle, .function = function};
      const std::size_t steps = play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const Fault& fault : faults_and_late_ones()) {
          each.faults = {{at, fault}};
          play(each);
        }
      }
    }
  }
}

TEST_CASE("transact: it is applied once with pairs of faults", "[atomics]") {
  Sample sample;
  for (const Function function : {Function::transfer, Function::blind}) {
    Case each{.function = function};
    const std::vector<Fault> faults = faults_and_late_ones();
    const std::size_t steps = play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : faults) {
        each.faults = {{at, fault}};
        const std::size_t longer = play(each);
        for (std::size_t next = at + 1; next < std::min(longer, at + 4); ++next) {
          for (const Fault& another : faults) {
            if (!sample.takes_next()) continue;
            each.faults = {{at, fault}, {next, another}};
            play(each);
          }
        }
      }
    }
  }
}

TEST_CASE("transact: one that is cancelled ends, at every moment", "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Case each{.settle = settle};
    const std::size_t steps = play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      each.cancelled_at = at;
      each.faults = {};
      play(each);
      each.faults = {{at, {.kind = FaultKind::fail_after}}};
      play(each);
      each.faults = {{at, {.kind = FaultKind::apply_late, .requests_later = 1}}};
      play(each);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::transact_test
