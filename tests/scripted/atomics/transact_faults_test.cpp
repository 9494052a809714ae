// transact() with faults at its requests, with requests that the servers refuse, and cancelled.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <utility>

#include "scripted/atomics/lost_transaction.hpp"
#include "scripted/atomics/transact_fixture.hpp"

namespace custodian::tests::transact_faults_test {
namespace {

using namespace accounts;

bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
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
  Faults faults{};
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
  // Another client writes after the call has ended. No late request may undo that.
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
        for (const Fault& fault : sampled(faults_and_late_ones())) {
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
}  // namespace custodian::tests::transact_faults_test
