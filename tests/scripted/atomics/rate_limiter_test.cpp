// A rate limiter over a fake ensemble.

#include "custodian/atomics/rate_limiter.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <set>
#include <thread>

#include "atomics/rate_ledger.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::rate_limiter_test {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto place = "/p/rate";
/// A rate so high that no permit waits until it is due. Chunks are of ten permits.
constexpr RateLimit fast{.permits_per_second = 1e6, .burst = 1s, .chunk = 10us};
/// A rate so low that only the first permit is ever due.
constexpr RateLimit slow{.permits_per_second = 0.001, .burst = 0s, .chunk = 0s};

struct Fixture {
  explicit Fixture(RateLimit limit = fast) {
    client = world.client("observed");
    limiter.emplace(*client, place, limit);
    world.ensemble.set_fault_plan(plan);
  }
  ~Fixture() {
    world.ensemble.set_fault_plan(nullptr);
    limiter.reset();
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] Outcome<> acquire(std::int64_t permits = 1) {
    return run<>(world, [&](auto done) { limiter->async_acquire(permits, done); });
  }
  [[nodiscard]] Outcome<bool> try_acquire(std::int64_t permits = 1) {
    return run<bool>(world, [&](auto done) { limiter->async_try_acquire(permits, done); });
  }
  /// Begins `calls` calls at once, and returns their numbers in the order in which they end.
  [[nodiscard]] std::vector<int> acquire_at_once(int calls) {
    const auto order = std::make_shared<std::vector<int>>();
    for (int i = 0; i < calls; ++i) {
      limiter->async_acquire([order, i](error_code error) {
        CHECK_FALSE(error);
        order->push_back(i);
      });
    }
    const auto all = static_cast<std::size_t>(calls);
    REQUIRE(world.run_until([&] { return order->size() == all; }));
    return *order;
  }

  World world;
  std::shared_ptr<FaultsAt> plan = std::make_shared<FaultsAt>("observed");
  std::unique_ptr<Client> client;
  std::optional<RateLimiter> limiter;
};

TEST_CASE("a rate limiter: permits of a chunk cost one write", "[atomics]") {
  Fixture fixture;
  CHECK_FALSE(fixture.acquire().error());
  const std::size_t first = fixture.plan->steps();
  for (int i = 0; i < 7; ++i) CHECK_FALSE(fixture.acquire().error());
  CHECK(fixture.plan->steps() == first);
  // With less than a quarter left the next chunk is taken.
  for (int i = 0; i < 10; ++i) CHECK_FALSE(fixture.acquire().error());
  CHECK(fixture.plan->steps() > first);
  CHECK_FALSE(fixture.acquire(1000).error());
}

TEST_CASE("a rate limiter: what is not due yet is not let through", "[atomics]") {
  Fixture fixture{slow};
  CHECK(fixture.try_acquire().result());
  const std::size_t steps = fixture.plan->steps();
  // The write has shown when the next permit is due, so no further request is sent.
  CHECK_FALSE(fixture.try_acquire().result());
  CHECK(fixture.plan->steps() == steps);
  const auto in_time = run<bool>(
      fixture.world, [&](auto done) { fixture.limiter->async_try_acquire_for(brief_limit, done); });
  CHECK_FALSE(in_time.error());
  CHECK_FALSE(in_time.result());
  const auto passed = run<bool>(
      fixture.world, [&](auto done) { fixture.limiter->async_try_acquire_for(2, 0s, done); });
  CHECK_FALSE(passed.error());
  CHECK_FALSE(passed.result());
  CHECK(fixture.plan->steps() == steps);
}

TEST_CASE("a rate limiter: a permit in memory that is due later is not let through", "[atomics]") {
  // A chunk is two permits.
  Fixture fixture{{.permits_per_second = 0.001, .burst = 0s, .chunk = 2000s}};
  CHECK(fixture.try_acquire().result());
  const std::size_t steps = fixture.plan->steps();
  CHECK_FALSE(fixture.try_acquire().result());
  CHECK_FALSE(fixture.try_acquire(2).result());
  CHECK(fixture.plan->steps() == steps);
}

TEST_CASE("a rate limiter: calls that are declined take nothing, whatever becomes of their process",
          "[atomics]") {
  Fixture fixture{slow};
  CHECK(fixture.try_acquire().result());
  const auto decline = [&](auto start) {
    // Each call is that of a process which then ends.
    RateLimiter another{*fixture.client, place, slow};
    const auto ended = run<bool>(fixture.world, [&](auto done) { start(another, done); });
    CHECK_FALSE(ended.error());
    CHECK_FALSE(ended.result());
  };
  for (int i = 0; i < 5; ++i) {
    decline([](RateLimiter& each, auto done) { each.async_try_acquire(done); });
    decline([](RateLimiter& each, auto done) { each.async_try_acquire_for(500s, done); });
  }
  const auto entry =
      recipes_detail::decode_rate_entry(fixture.world.ensemble.operate(request::Get{place}).data);
  REQUIRE(entry);
  CHECK(entry->cost == 0s);
  CHECK(entry->credit >= -1000s);
  // A call that may wait so long takes its permit, and waits.
  RateLimiter patient{*fixture.client, place, slow};
  asio::cancellation_signal signal;
  Outcome<bool> waits;
  patient.async_try_acquire_for(2000s,
                                asio::bind_cancellation_slot(signal.slot(), waits.handler()));
  REQUIRE(fixture.world.run_until([&] {
    const auto now =
        recipes_detail::decode_rate_entry(fixture.world.ensemble.operate(request::Get{place}).data);
    return now && now->cost == 1000s;
  }));
  fixture.world.settle();
  CHECK_FALSE(waits.arrived());
  signal.emit(asio::cancellation_type::total);
  CHECK(fixture.world.run_until_arrived(waits));
}

TEST_CASE("a rate limiter: of processes that ask once and end some are let through", "[atomics]") {
  constexpr RateLimit rate{.permits_per_second = 100, .burst = 0s, .chunk = 0s};
  Fixture fixture{rate};
  const auto begin = std::chrono::steady_clock::now();
  int granted = 0;
  const Deadline deadline{World::limit};
  while (granted < 4 && !deadline.passed()) {
    RateLimiter each{*fixture.client, place, rate};
    const auto ended = run<bool>(fixture.world, [&](auto done) { each.async_try_acquire(done); });
    if (ended.result()) ++granted;
  }
  CHECK(granted == 4);
  // The first is due at once. Servers note whole milliseconds.
  CHECK(std::chrono::steady_clock::now() - begin >= 3 * 10ms - 1ms);
}

TEST_CASE("a rate limiter: the permits of all clients are one rate's", "[atomics]") {
  Fixture fixture{slow};
  auto other = fixture.world.client("other");
  {
    RateLimiter twin{*other, place, slow};
    CHECK(fixture.try_acquire().result());
    CHECK_FALSE(
        run<bool>(fixture.world, [&](auto done) { twin.async_try_acquire(done); }).result());
  }
  CHECK(fixture.world.end(other));
}

TEST_CASE("a rate limiter: permits are due at their times, in the order of the calls",
          "[atomics]") {
  Fixture fixture{{.permits_per_second = 200, .burst = 0s, .chunk = 20ms}};
  const auto begin = std::chrono::steady_clock::now();
  constexpr int calls = 8;
  const std::vector<int> order = fixture.acquire_at_once(calls);
  // The first is due at once, and the others 5 ms after each other. Servers note whole
  // milliseconds.
  CHECK(std::chrono::steady_clock::now() - begin >= (calls - 1) * 5ms - 1ms);
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a rate limiter: calls keep their order whichever reply is taken up late", "[atomics]") {
  for (std::size_t late = 0; late < 6; ++late) {
    CAPTURE(late);
    Fixture fixture{{.permits_per_second = 200, .burst = 0s, .chunk = 20ms}};
    fixture.plan->replying = [late](std::size_t reply) {
      // The client believes that the permits of this write are due later than they are.
      if (reply == late) std::this_thread::sleep_for(30ms);
    };
    CHECK(std::ranges::is_sorted(fixture.acquire_at_once(12)));
  }
}

TEST_CASE("a rate limiter: a cancelled caller leaves its permits to the next", "[atomics]") {
  Fixture fixture{{.permits_per_second = 20, .burst = 0s, .chunk = 0s}};
  CHECK_FALSE(fixture.acquire().error());
  asio::cancellation_signal signal;
  Outcome<> cancelled;
  fixture.limiter->async_acquire(asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  // It has its permit, which is not due for 50 ms.
  REQUIRE(fixture.world.run_until([&] { return fixture.plan->steps() >= 4; }));
  fixture.world.settle();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(fixture.world.run_until_arrived(cancelled));
  CHECK(cancelled.error() == asio::error::operation_aborted);
  const std::size_t steps = fixture.plan->steps();
  CHECK_FALSE(fixture.acquire().error());
  CHECK(fixture.plan->steps() == steps);
}

TEST_CASE("a rate limiter: one that is cancelled in the line does not hold up the next",
          "[atomics]") {
  World world;
  auto client = world.client("observed");
  {
    RateLimiter limiter{*client, place, fast};
    world.ensemble.set_fault_plan(
        std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::delay}}}));
    asio::cancellation_signal signal;
    Outcome<> first, cancelled, last;
    limiter.async_acquire(asio::bind_cancellation_slot(signal.slot(), first.handler()));
    Outcome<bool> late;
    limiter.async_try_acquire_for(brief_limit, late.handler());
    limiter.async_acquire(last.handler());
    world.settle();
    signal.emit(asio::cancellation_type::total);
    REQUIRE(world.run_until_arrived(first));
    REQUIRE(world.run_until_arrived(late));
    CHECK(first.error() == asio::error::operation_aborted);
    // No server has answered, so it is unknown whether there were permits.
    CHECK(late.error() == Errc::deadline_exceeded);
    CHECK_FALSE(last.arrived());
    world.ensemble.release_replies();
    REQUIRE(world.run_until_arrived(last));
    CHECK_FALSE(last.error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("a rate limiter: without servers nothing is let through but what is in memory",
          "[atomics]") {
  World world;
  ClientOptions options = world.options("observed");
  options.operation_timeout = brief_limit;
  auto client = world.client(std::move(options));
  {
    RateLimiter limiter{*client, place, fast};
    CHECK_FALSE(run<>(world, [&](auto done) { limiter.async_acquire(done); }).error());
    world.ensemble.stop();
    for (int i = 0; i < 9; ++i) {
      CHECK_FALSE(run<>(world, [&](auto done) { limiter.async_acquire(done); }).error());
    }
    const auto failed = run<>(world, [&](auto done) { limiter.async_acquire(done); });
    CHECK(failed.error());
    CHECK(run<bool>(world, [&](auto done) { limiter.async_try_acquire(done); }).error());
    world.ensemble.start();
    CHECK(world.run_until([&] { return is_connected(client->connection_state()); }));
    CHECK_FALSE(run<>(world, [&](auto done) { limiter.async_acquire(done); }).error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("a rate limiter: a call does not fail with a write that began before it", "[atomics]") {
  World world;
  ClientOptions options = world.options("observed");
  options.operation_timeout = 20 * brief_limit;
  auto client = world.client(std::move(options));
  {
    RateLimiter limiter{*client, place, fast};
    world.ensemble.stop();
    Outcome<> early;
    Outcome<bool> newcomer;
    limiter.async_acquire(early.handler());
    world.settle();
    limiter.async_try_acquire_for(World::limit, newcomer.handler());
    REQUIRE(world.run_until_arrived(early));
    CHECK(early.error() == Errc::deadline_exceeded);
    world.ensemble.start();
    REQUIRE(world.run_until_arrived(newcomer));
    CHECK_FALSE(newcomer.error());
    CHECK(newcomer.result());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("a rate limiter: a node that holds something else is an error, and stays", "[atomics]") {
  Fixture fixture;
  fixture.world.make("/p");
  fixture.world.make(place, "somebody's");
  CHECK(fixture.acquire().error() == Errc::malformed_data);
  CHECK(fixture.try_acquire().error() == Errc::malformed_data);
  CHECK(fixture.world.ensemble.operate(request::Get{place}).data == "somebody's");
}

TEST_CASE("a rate limiter: waits end with their client", "[atomics]") {
  for (const bool drains : {true, false}) {
    World world;
    auto client = world.client("observed");
    {
      RateLimiter limiter{*client, place, slow};
      CHECK_FALSE(run<>(world, [&](auto done) { limiter.async_acquire(done); }).error());
      Outcome<> waits;
      limiter.async_acquire(waits.handler());
      REQUIRE(world.run_until(
          [&] { return world.ensemble.operate(request::Get{place}).stat.version == 2; }));
      world.settle();
      CHECK_FALSE(waits.arrived());
      Outcome<bool> closed;
      if (drains) {
        client->async_close(Deadline{World::limit}, closed.handler());
      } else {
        client->close();
      }
      REQUIRE(world.run_until_arrived(waits));
      CHECK(waits.error() == Errc::closed);
      CHECK(run<bool>(world, [&](auto done) { limiter.async_try_acquire(done); }).error() ==
            Errc::closed);
    }
    CHECK(world.end(client));
  }
}

TEST_CASE("a rate limiter: bad arguments throw at once", "[atomics]") {
  World world;
  auto client = world.client("observed");
  const auto refused = [&](RateLimit limit, const char* path = place) {
    CHECK_THROWS_AS((RateLimiter{*client, path, limit}), Error);
  };
  refused({.permits_per_second = 0});
  refused({.permits_per_second = -1});
  refused({.permits_per_second = std::nan("")});
  refused({.permits_per_second = 2e9});
  refused({.burst = -1ns});
  refused({.chunk = -1ns});
  refused({.burst = 25h});
  refused({}, "relative");
  refused({}, "/");
  {
    RateLimiter limiter{*client, place, {.permits_per_second = 10}};
    const auto refuses = [](auto&& call) {
      try {
        call();
        FAIL_CHECK("it is accepted");
      } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
      }
    };
    const auto ignored = [](error_code, bool) {};
    refuses([&] { limiter.async_acquire(0, [](error_code) {}); });
    refuses([&] { limiter.async_acquire(864'001, [](error_code) {}); });
    refuses([&] { limiter.async_try_acquire(-1, ignored); });
    refuses([&] { limiter.async_try_acquire_for(0, Deadline::never(), ignored); });
    refuses([&] { limiter.acquire(0); });
    refuses([&] { static_cast<void>(limiter.try_acquire(0)); });
    refuses([&] { static_cast<void>(limiter.try_acquire_for(0, Deadline::never())); });
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::rate_limiter_test
