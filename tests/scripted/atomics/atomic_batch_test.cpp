// Updates that wait while another one of their client is under way are applied together.

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "custodian/atomics/distributed_atomic_value.hpp"
#include "scripted/atomics/atomic_fixture.hpp"

namespace custodian::tests::atomic_batch_test {

namespace asio = boost::asio;

namespace {

using namespace atomics;

/// The first update, which adds zero, is under way until its reply is released; all updates that
/// begin meanwhile wait.
struct Held : Fixture {
  explicit Held(Settle settle = Settle::exactly_once, Faults later = {})
      : Fixture{{.settle = settle}} {
    static_cast<void>(add(0));
    static_cast<void>(add(0));
    later.insert(later.begin(), {0, {.kind = FaultKind::delay}});
    plan = std::make_shared<FaultsAt>("observed", std::move(later));
    world.ensemble.set_fault_plan(plan);
    number->async_fetch_add(0, first.handler());
    world.settle();
    REQUIRE(plan->steps() == 1);
  }

  std::shared_ptr<FaultsAt> plan;
  Outcome<Done> first;
};

TEST_CASE("an atomic: updates that wait share one write, in the order of their calls",
          "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Held held{settle};
    Outcome<Done> added, exchanged, equal, unequal, raised, lowered, computed;
    held.number->async_fetch_add(5, added.handler());
    held.number->async_exchange(std::int64_t{40}, exchanged.handler());
    held.number->async_compare_exchange(std::int64_t{40}, std::int64_t{41}, equal.handler());
    held.number->async_compare_exchange(std::int64_t{40}, std::int64_t{99}, unequal.handler());
    held.number->async_update([](std::int64_t now) { return std::optional{2 * now}; },
                              computed.handler());
    held.number->async_fetch_max(7, raised.handler());
    held.number->async_fetch_min(80, lowered.handler());
    held.world.settle();
    held.world.ensemble.release_replies();
    REQUIRE(held.world.run_until_arrived(lowered));
    CHECK(held.plan->steps() == 2);
    CHECK(added.result().before.value == 0);
    CHECK(added.result().after.value == 5);
    CHECK(exchanged.result().before.value == 5);
    CHECK(equal.result().written);
    CHECK_FALSE(unequal.result().written);
    CHECK(unequal.result().before.value == 41);
    CHECK(computed.result().after.value == 82);
    CHECK_FALSE(raised.result().written);
    CHECK(lowered.result().before.value == 82);
    CHECK(lowered.result().after.value == 80);
    for (const auto* one : {&added, &exchanged, &equal, &unequal, &computed, &raised, &lowered}) {
      CHECK_FALSE(one->error());
      CHECK(one->result().tries == 1);
    }
    // The servers have had only the first value and the last one, so only these have a zxid.
    CHECK(added.result().before == held.first.result().after);
    CHECK(added.result().after.mzxid == 0);
    CHECK(unequal.result().before.mzxid == 0);
    const auto read =
        run<Number>(held.world, [&](auto done) { held.number->async_load(done); }).result();
    CHECK(lowered.result().after == read);
  }
}

TEST_CASE("an atomic: a value between two updates of a write matches nothing", "[atomics]") {
  Held held;
  Outcome<Done> one, two;
  held.number->async_fetch_add(1, one.handler());
  held.number->async_fetch_add(0, two.handler());
  held.world.settle();
  held.world.ensemble.release_replies();
  REQUIRE(held.world.run_until_arrived(two));
  const auto exchange = [&](const Number& expected) {
    return run<Done>(held.world, [&](auto done) {
      held.number->async_compare_exchange(expected, std::int64_t{9}, done);
    });
  };
  CHECK_FALSE(exchange(one.result().after).result().written);
  CHECK(exchange(two.result().after).result().written);
}

TEST_CASE("an atomic: nothing is built upon what a caller says to have read", "[atomics]") {
  Fixture fixture{{.settle = Settle::exactly_once,
                   .promoted = PromotedToLock{.path = "/lock", .after_tries = 0}}};
  Number forged = fixture.add(5).result().after;
  forged.value = 1000;
  // The first update writes nothing. The next one is cancelled while it acquires its lock.
  const auto plan = std::make_shared<FaultsAt>("observed");
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
  asio::cancellation_signal signal;
  Outcome<Done> first, exchanged, added;
  fixture.number->async_fetch_max(-1, first.handler());
  fixture.world.settle();
  fixture.number->async_compare_exchange(
      forged, std::int64_t{7}, asio::bind_cancellation_slot(signal.slot(), exchanged.handler()));
  fixture.number->async_fetch_add(1, added.handler());
  fixture.world.settle();
  plan->submitted = [&](std::size_t) {
    const bool acquires = fixture.world.ensemble.history().back().kind.starts_with("create");
    if (acquires) signal.emit(asio::cancellation_type::total);
  };
  fixture.world.ensemble.set_fault_plan(plan);
  fixture.world.ensemble.release_replies();
  REQUIRE(fixture.world.run_until_arrived(added));
  CHECK(first.result().before.value == 5);
  CHECK(exchanged.error() == asio::error::operation_aborted);
  CHECK(added.result().before.value == 5);
  CHECK(fixture.is(6));
}

TEST_CASE("an atomic: who gives up before the write is taken out of it", "[atomics]") {
  Held held;
  asio::cancellation_signal signal;
  Outcome<Done> stays, late, cancelled, last;
  held.number->async_fetch_add(1, stays.handler());
  held.number->async_fetch_add(10, {.deadline = brief_limit}, late.handler());
  held.number->async_fetch_add(100,
                               asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  held.number->async_fetch_add(1000, last.handler());
  held.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(held.world.run_until_arrived(late));
  REQUIRE(held.world.run_until_arrived(cancelled));
  CHECK(late.error() == Errc::deadline_exceeded);
  CHECK(cancelled.error() == asio::error::operation_aborted);
  held.world.ensemble.release_replies();
  REQUIRE(held.world.run_until_arrived(last));
  CHECK(held.plan->steps() == 2);
  CHECK(stays.result().after.value == 1);
  CHECK(last.result().after.value == 1001);
  CHECK(held.is(1001));
}

TEST_CASE("an atomic: who gives up during the write does not know, and the others go on",
          "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Held held{settle, {{1, {.kind = FaultKind::delay}}}};
    asio::cancellation_signal signal;
    Outcome<Done> stays, late, cancelled;
    held.number->async_fetch_add(1, stays.handler());
    held.number->async_fetch_add(10, {.deadline = brief_limit * 10}, late.handler());
    held.number->async_fetch_add(100,
                                 asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
    held.world.settle();
    held.world.ensemble.release_replies();
    REQUIRE(held.world.run_until([&] { return held.plan->steps() == 2; }));
    signal.emit(asio::cancellation_type::total);
    REQUIRE(held.world.run_until_arrived(late));
    CHECK(late.error() == Errc::deadline_exceeded_outcome_unknown);
    CHECK(cancelled.error() == asio::error::operation_aborted);
    CHECK_FALSE(stays.arrived());
    held.world.ensemble.release_replies();
    REQUIRE(held.world.run_until_arrived(stays));
    CHECK(stays.result().after.value == 1);
    CHECK(held.is(111));
  }
}

TEST_CASE("an atomic: a write that nobody waits for any more does not hold up the next one",
          "[atomics]") {
  Held held{Settle::exactly_once, {{1, {.kind = FaultKind::delay}}}};
  std::array<asio::cancellation_signal, 2> signals;
  std::array<Outcome<Done>, 2> given_up;
  for (std::size_t i = 0; i < 2; ++i) {
    held.number->async_fetch_add(
        10, asio::bind_cancellation_slot(signals[i].slot(), given_up[i].handler()));
  }
  held.world.settle();
  held.world.ensemble.release_replies();
  REQUIRE(held.world.run_until([&] { return held.plan->steps() == 2; }));
  Outcome<Done> next;
  held.number->async_fetch_add(1, next.handler());
  held.world.settle();
  for (auto& signal : signals) signal.emit(asio::cancellation_type::total);
  REQUIRE(held.world.run_until([&] { return held.plan->steps() == 3; }));
  for (const auto& each : given_up) REQUIRE(held.world.run_until_arrived(each));
  CHECK(given_up[0].error() == asio::error::operation_aborted);
  CHECK(given_up[1].error() == asio::error::operation_aborted);
  held.world.ensemble.release_replies();
  REQUIRE(held.world.run_until_arrived(next));
  CHECK(next.result().before.value == 20);
  CHECK(held.is(21));
}

TEST_CASE("an atomic: who gives up while user code runs is not in the write", "[atomics]") {
  World world;
  asio::io_context callbacks;
  ClientOptions options = world.options("observed");
  options.callback_executor = callbacks.get_executor();
  auto client = world.client(std::move(options));
  {
    DistributedAtomicLong number{*client, place};
    const auto strand = world.context.get_executor();
    const auto add = [](std::int64_t by) {
      return [by](std::int64_t now) { return std::optional{now + by}; };
    };
    Outcome<Done> first, cancelled, last;
    asio::cancellation_signal signal;
    number.async_update(add(0), asio::bind_executor(strand, first.handler()));
    world.settle();
    number.async_update(
        add(10), asio::bind_cancellation_slot(signal.slot(),
                                              asio::bind_executor(strand, cancelled.handler())));
    number.async_update(add(1), asio::bind_executor(strand, last.handler()));
    const auto run_one = [&] {
      return world.run_until([&] {
        callbacks.restart();
        return callbacks.poll_one() == 1;
      });
    };
    REQUIRE(run_one());
    REQUIRE(world.run_until_arrived(first));
    REQUIRE(run_one());  // the one that is cancelled then
    signal.emit(asio::cancellation_type::total);
    REQUIRE(world.run_until_arrived(cancelled));
    REQUIRE(world.run_until([&] {
      callbacks.restart();
      callbacks.poll_one();
      return last.arrived();
    }));
    CHECK(cancelled.error() == asio::error::operation_aborted);
    CHECK(last.result().after.value == 1);
    CHECK(world.ensemble.operate(request::Get{place}).data == bytes_of_long(1));
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("an atomic: of updates that share a write each has its own error", "[atomics]") {
  World world;
  auto client = world.client("observed");
  {
    DistributedAtomicValue text{*client, "/text", {.settle = Settle::exactly_once}};
    using Text = Updated<std::string>;
    const auto append = [](const char* more) {
      return [more](const std::string& now) { return std::optional{now + more}; };
    };
    Outcome<Text> first, thrown, too_long, last;
    text.async_update(append("a"), first.handler());
    text.async_update(
        [](const std::string&) -> std::optional<std::string> { throw std::bad_alloc{}; },
        thrown.handler());
    text.async_update([](const std::string&) { return std::optional{std::string(2'000'000, 'x')}; },
                      too_long.handler());
    text.async_update(append("b"), last.handler());
    REQUIRE(world.run_until_arrived(last));
    CHECK(thrown.error() == boost::system::errc::not_enough_memory);
    CHECK(too_long.error() == Errc::invalid_argument);
    CHECK(last.result().after.value == "ab");
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("an atomic: a value that does not fit beside its witness fails alone", "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    World world;
    ClientOptions options = world.options("observed");
    options.max_request_size = 10'000;
    auto client = world.client(std::move(options));
    {
      DistributedAtomicValue text{*client, "/text", {.settle = settle}};
      using Text = Updated<std::string>;
      // A set of the value has room for it, and some 50 bytes more.
      const std::string large(9'920, 'x');
      Outcome<Text> first, too_large, last;
      text.async_exchange("a", first.handler());
      text.async_exchange(large, too_large.handler());
      text.async_update([](const std::string& now) { return std::optional{now + "b"}; },
                        last.handler());
      REQUIRE(world.run_until_arrived(first));
      REQUIRE(world.run_until_arrived(too_large));
      REQUIRE(world.run_until_arrived(last));
      const bool fits = settle == Settle::left_to_caller;
      CHECK_FALSE(first.error());
      CHECK_FALSE(last.error());
      CHECK(last.result().before.value == (fits ? large : "a"));
      if (fits) {
        CHECK_FALSE(too_large.error());
      } else {
        CHECK(too_large.error() == Errc::invalid_argument);
      }
    }
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }
}

TEST_CASE("an atomic: a witness that may not be deleted costs nobody the session", "[atomics]") {
  World world;
  auto client = world.client("observed");
  world.make("/number", bytes_of_long(0));
  {
    DistributedAtomicLong number{*client, "/number", {.settle = Settle::exactly_once}};
    CHECK_FALSE(run<Done>(world, [&](auto done) { number.async_fetch_add(1, done); }).error());
    world.ensemble.refuse("/number");
  }
  const std::int64_t session = client->session().id;
  CHECK(world.run_until_idle(*client));
  CHECK(world.ensemble.children("/number").size() == 1);
  CHECK(world.ensemble.sessions() == std::vector<std::int64_t>{session});
  CHECK(client->session().id == session);
  world.ensemble.permit("/number");
  CHECK(world.end(client));
}

TEST_CASE("an atomic: without a witness a copy is good until the node is deleted", "[atomics]") {
  Fixture fixture{{.settle = Settle::left_to_caller}};
  fixture.world.ensemble.clear_history();
  const auto requests = [&] {
    const std::size_t made = fixture.world.ensemble.history().size();
    fixture.world.ensemble.clear_history();
    return made;
  };
  static_cast<void>(fixture.add(1));
  static_cast<void>(requests());
  static_cast<void>(fixture.add(1));
  CHECK(requests() == 3);  // it watches the node, reads, and writes
  static_cast<void>(fixture.add(1));
  CHECK(requests() == 1);
  // The new node has the version that the update has left.
  fixture.world.ensemble.remove_tree(place);
  fixture.world.make(place, bytes_of_long(0));
  for (std::int64_t value : {0, 0, 70}) fixture.write(value);
  CHECK(fixture.add(1).result().before.value == 70);
  CHECK(fixture.is(71));
}

TEST_CASE("an atomic: without a witness a copy is not good after a disconnection", "[atomics]") {
  Fixture fixture{{.settle = Settle::left_to_caller}};
  for (int i = 0; i < 3; ++i) static_cast<void>(fixture.add(1));
  fixture.world.ensemble.disconnect(fixture.client->session().id);
  const auto has_connection = [&] { return is_connected(fixture.client->connection_state()); };
  REQUIRE(fixture.world.run_until([&] { return !has_connection(); }));
  REQUIRE(fixture.world.run_until(has_connection));
  fixture.world.ensemble.clear_history();
  const auto added = fixture.add(1);
  CHECK(added.result().after.value == 4);
  // It watches the node again, and reads.
  CHECK(fixture.world.ensemble.history().size() == 3);
}

}  // namespace
}  // namespace custodian::tests::atomic_batch_test
