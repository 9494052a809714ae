// A distributed atomic over a fake ensemble: its functions, and incidents of its node and witness.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_value.hpp"
#include "scripted/atomics/atomic_fixture.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomic_test {

namespace asio = boost::asio;

namespace {

using namespace atomics;

TEST_CASE("an atomic: a load of nothing is zero and creates nothing", "[atomics]") {
  Fixture fixture;
  const auto read =
      run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); });
  CHECK_FALSE(read.error());
  CHECK(read.result() == Number{});
  CHECK(fixture.world.ensemble.operate(request::Exists{"/p"}).error == ServerErrc::no_node);
  // A result that was read without a node never matches; but now the node exists for the next try.
  const auto first = run<Done>(fixture.world, [&](auto done) {
    fixture.number->async_compare_exchange(Number{}, std::int64_t{4}, done);
  });
  CHECK_FALSE(first.error());
  CHECK_FALSE(first.result().written);
  const auto second = run<Done>(fixture.world, [&](auto done) {
    fixture.number->async_compare_exchange(first.result().after, std::int64_t{4}, done);
  });
  CHECK(second.result().written);
  CHECK(fixture.is(4));
}

TEST_CASE("an atomic: no bytes are zero, and any other length is malformed until a store",
          "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Fixture fixture{{.settle = settle}};
    fixture.world.make("/p");
    fixture.world.make(place);
    CHECK(fixture.add(3).result().before.value == 0);
    for (const std::string bad : {"abc", "1234", "1234567", "123456789"}) {
      fixture.world.ensemble.operate(request::Set{place, bad});
      CHECK(fixture.add(1).error() == Errc::malformed_data);
      CHECK(run<Number>(fixture.world, [&](auto done) {
              fixture.number->async_load(done);
            }).error() == Errc::malformed_data);
      CHECK(fixture.bytes() == bad);
    }
    CHECK_FALSE(run<>(fixture.world, [&](auto done) {
                  fixture.number->async_store(std::int64_t{8}, done);
                }).error());
    CHECK(fixture.add(1).result().after.value == 9);
  }
}

TEST_CASE("an atomic: a compare_exchange by value finds an equal value of any write", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(5));
  fixture.write(5);
  const auto exchange = [&](std::int64_t expected) {
    return run<Done>(fixture.world,
                     [&](auto done) {
                       fixture.number->async_compare_exchange(expected, std::int64_t{6}, done);
                     })
        .result();
  };
  CHECK_FALSE(exchange(4).written);
  CHECK(exchange(4).before.value == 5);
  CHECK(exchange(5).written);
  CHECK(fixture.is(6));
}

TEST_CASE("an atomic: the updates of one client go one after the other, in their order",
          "[atomics]") {
  Fixture fixture;
  DistributedAtomicLong twin{*fixture.client, place, {.settle = Settle::exactly_once}};
  static_cast<void>(fixture.add(0));
  fixture.world.ensemble.clear_history();
  std::vector<Outcome<Done>> outcomes(10);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    (i % 2 == 0 ? *fixture.number : twin).async_fetch_add(1, outcomes[i].handler());
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    REQUIRE(fixture.world.run_until_arrived(outcomes[i]));
    CHECK(outcomes[i].result().after.value == static_cast<std::int64_t>(i) + 1);
    CHECK(outcomes[i].result().tries == 1);
  }
  CHECK(fixture.world.ensemble.history().size() == outcomes.size());
  CHECK(fixture.witnesses().size() == 1);
}

TEST_CASE("an atomic: who waits for its turn may give up, and does not hold up the next",
          "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(0));
  fixture.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
  asio::cancellation_signal signal;
  Outcome<Done> first;
  Outcome<Done> late;
  Outcome<Done> cancelled;
  Outcome<Done> last;
  fixture.number->async_fetch_add(1, first.handler());
  fixture.number->async_fetch_add(10, {.deadline = brief_limit}, late.handler());
  fixture.number->async_fetch_add(100,
                                  asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  fixture.number->async_fetch_add(1000, last.handler());
  fixture.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(fixture.world.run_until_arrived(late));
  REQUIRE(fixture.world.run_until_arrived(cancelled));
  CHECK(late.error() == Errc::deadline_exceeded);
  CHECK(cancelled.error() == asio::error::operation_aborted);
  CHECK_FALSE(first.arrived());
  fixture.world.ensemble.release_replies();
  REQUIRE(fixture.world.run_until_arrived(last));
  CHECK(first.result().after.value == 1);
  CHECK(fixture.is(1001));
}

TEST_CASE(
    "an atomic: an update that was given up, and is applied late, counts once beside the next",
    "[atomics]") {
  for (const bool before_the_next : {true, false}) {
    Fixture fixture;
    static_cast<void>(fixture.add(0));
    asio::cancellation_signal signal;
    const auto plan = std::make_shared<FaultsAt>(
        "observed", Faults{{0, {.kind = FaultKind::apply_late, .requests_later = 0}}});
    plan->replying = [&](std::size_t) { signal.emit(asio::cancellation_type::all); };
    fixture.world.ensemble.set_fault_plan(plan);
    const auto given_up = run<Done>(fixture.world, [&](auto done) {
      fixture.number->async_fetch_add(1, asio::bind_cancellation_slot(signal.slot(), done));
    });
    CHECK(given_up.error() == asio::error::operation_aborted);
    plan->replying = nullptr;
    if (before_the_next) CHECK(fixture.world.ensemble.apply_late_requests() == 1);
    CHECK(fixture.add(10).result().before.value == (before_the_next ? 1 : 0));
    fixture.world.ensemble.apply_late_requests();
    CHECK(fixture.is(before_the_next ? 11 : 10));
  }
}

TEST_CASE("an atomic: a lost session is an unknown outcome only if another write has come",
          "[atomics]") {
  for (const bool others : {true, false}) {
    Fixture fixture;
    static_cast<void>(fixture.add(0));
    const auto plan =
        std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::expire_before}}});
    plan->replying = [&](std::size_t reply) {
      if (others && reply == 0) fixture.write(50);
    };
    fixture.world.ensemble.set_fault_plan(plan);
    const auto added = fixture.add(1);
    CHECK(added.error() == (others ? make_error_code(ServerErrc::connection_loss) : error_code{}));
    CHECK(fixture.is(others ? 50 : 1));
  }
}

TEST_CASE("an atomic: a witness that an operator deletes is made anew", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(1));
  fixture.world.remove(std::string{place} + "/" + fixture.witnesses().at(0));
  const auto added = fixture.add(1);
  CHECK_FALSE(added.error());
  CHECK(fixture.is(2));
  CHECK(fixture.witnesses().size() == 1);
}

TEST_CASE("an atomic: a new node of the same version is not taken for the old one", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(40));
  fixture.world.ensemble.remove_tree(place);
  fixture.world.make(place, bytes_of_long(0));
  fixture.write(7);  // version 1, as the update has left it
  const auto added = fixture.add(1);
  CHECK_FALSE(added.error());
  CHECK(added.result().before.value == 7);
  CHECK(fixture.is(8));
}

TEST_CASE("an atomic: nor is it after a lost session, which has taken the witness along",
          "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(40));
  const std::int64_t first = fixture.client->session().id;
  fixture.world.ensemble.expire(first);
  REQUIRE(fixture.world.run_until([&] {
    const std::int64_t now = fixture.client->session().id;
    return now != first && now != 0;
  }));
  fixture.world.ensemble.remove_tree(place);
  fixture.world.make(place, bytes_of_long(0));
  fixture.write(7);
  CHECK(fixture.add(1).result().before.value == 7);
  CHECK(fixture.is(8));
}

TEST_CASE("an atomic: a copy that is out of date costs a round trip and no more", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(1));
  fixture.write(100);
  const auto added = fixture.add(1);
  CHECK(added.result().before.value == 100);
  CHECK(added.result().tries == 2);
  CHECK(fixture.add(1).result().tries == 1);
  fixture.write(200);
  // Nor does it make a compare_exchange fail that must succeed.
  const auto exchanged = run<Done>(fixture.world, [&](auto done) {
    fixture.number->async_compare_exchange(std::int64_t{200}, std::int64_t{1}, done);
  });
  CHECK(exchanged.result().written);
}

TEST_CASE("an atomic: user code makes the next value, and never on the strand", "[atomics]") {
  World world;
  auto client = world.client("observed");
  {
    DistributedAtomicValue text{*client, "/text", {.settle = Settle::exactly_once}};
    using Text = Updated<std::string>;
    const auto update = [&](std::function<std::optional<std::string>(const std::string&)> f) {
      return run<Text>(world, [&](auto done) { text.async_update(f, done); });
    };
    CHECK(update([](const std::string& now) { return now + "a"; }).result().after.value == "a");
    CHECK(update([](const std::string& now) { return now + "b"; }).result().after.value == "ab");
    const auto nothing = update([](const std::string&) { return std::nullopt; });
    CHECK_FALSE(nothing.error());
    CHECK_FALSE(nothing.result().written);
    CHECK(nothing.result().before.value == "ab");
    const auto thrown = update([](const std::string&) -> std::optional<std::string> {
      throw std::runtime_error{"out of ideas"};
    });
    CHECK(thrown.error() == boost::system::errc::state_not_recoverable);
    CHECK(update(nullptr).error() == Errc::invalid_argument);
    CHECK(world.ensemble.operate(request::Get{"/text"}).data == "ab");
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("an atomic: user code runs on the callback executor", "[atomics]") {
  World world;
  asio::io_context callbacks;
  ClientOptions options = world.options("observed");
  options.callback_executor = callbacks.get_executor();
  auto client = world.client(std::move(options));
  {
    DistributedAtomicLong number{*client, place};
    bool called = false;
    Outcome<Done> done;
    number.async_update(
        [&](std::int64_t now) {
          called = true;
          return std::optional{now + 1};
        },
        asio::bind_executor(world.context.get_executor(), done.handler()));
    REQUIRE(world.run_until([&] { return world.ensemble.history().size() >= 4; }));
    world.settle();
    CHECK_FALSE(called);
    CHECK(callbacks.run_one() == 1);
    CHECK(called);
    REQUIRE(world.run_until_arrived(done));
    CHECK(done.result().after.value == 1);
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("an atomic: what the servers forbid is an error of each operation", "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(1));
  fixture.world.ensemble.refuse(place);
  CHECK(fixture.add(1).error() == ServerErrc::no_auth);
  CHECK(run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); }).error() ==
        ServerErrc::no_auth);
  fixture.world.ensemble.permit(place);
  CHECK(fixture.is(1));
}

TEST_CASE("an atomic: a value of a node that was created anew does not match, with a witness",
          "[atomics]") {
  Fixture fixture;
  const auto make = [&](std::int64_t value) {
    fixture.world.make("/p");
    fixture.world.make(place, bytes_of_long(1));
    fixture.write(value);
  };
  const auto exchange = [&](const Number& expected) {
    return run<Done>(fixture.world,
                     [&](auto done) { fixture.number->async_compare_exchange(expected, 9, done); });
  };
  make(2);
  const Number old =
      run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); }).result();
  fixture.world.ensemble.remove_tree("/p");
  make(3);
  // An update that writes nothing creates the witness, below the new node, whose version is the
  // old one's.
  const auto raised =
      run<Done>(fixture.world, [&](auto done) { fixture.number->async_fetch_max(-1, done); });
  CHECK(raised.result().after.version == old.version);
  const auto refused = exchange(old);
  CHECK_FALSE(refused.error());
  CHECK_FALSE(refused.result().written);
  CHECK(fixture.is(3));
  // What was written below the witness needs no read.
  const auto added = fixture.add(1);
  fixture.world.ensemble.clear_history();
  CHECK(exchange(added.result().after).result().written);
  CHECK(fixture.world.ensemble.history().size() == 1);
}

TEST_CASE("an atomic: a version that means any version is not written with", "[atomics]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    Fixture fixture{{.settle = settle}};
    static_cast<void>(fixture.add(4));
    fixture.world.ensemble.set_version(place, -2);
    // This write makes it -1, and leaves a copy.
    CHECK_FALSE(fixture.add(1).error());
    CHECK(fixture.add(1).error() == Errc::sequence_exhausted);
    const Number now =
        run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); }).result();
    CHECK(now.version == -1);
    const auto exchanged = run<Done>(
        fixture.world, [&](auto done) { fixture.number->async_compare_exchange(now, 9, done); });
    CHECK(exchanged.error() == Errc::sequence_exhausted);
    // What writes nothing needs no version.
    CHECK_FALSE(run<Done>(fixture.world, [&](auto done) {
                  fixture.number->async_fetch_max(-1, done);
                }).error());
    CHECK(fixture.is(5));
    fixture.write(6);
    CHECK_FALSE(fixture.add(1).error());
    CHECK(fixture.is(7));
  }
}

TEST_CASE("an atomic: bad arguments throw at once", "[atomics]") {
  World world;
  auto client = world.client("observed");
  CHECK_THROWS_AS((DistributedAtomicLong{*client, "/"}), Error);
  CHECK_THROWS_AS((DistributedAtomicLong{*client, "relative"}), Error);
  CHECK_THROWS_AS((DistributedAtomicLong{*client, "/a", {.promoted = PromotedToLock{"lock"}}}),
                  Error);
  CHECK_THROWS_AS((DistributedAtomicLong{*client, "/a", {.promoted = PromotedToLock{"/lock", -1}}}),
                  Error);
  // The lock's acquire would create the value's node, as a container.
  for (const char* path : {"/a", "/a/lock", "/a/b/lock"}) {
    CHECK_THROWS_AS((DistributedAtomicLong{*client, "/a", {.promoted = PromotedToLock{path}}}),
                    Error);
  }
  CHECK_NOTHROW(DistributedAtomicLong{*client, "/a", {.promoted = PromotedToLock{"/ab"}}});
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::atomic_test
