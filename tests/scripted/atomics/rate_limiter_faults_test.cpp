// A rate limiter with faults at its requests, and cancelled.

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>

#include "custodian/atomics/rate_limiter.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::rate_limiter_faults_test {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto place = "/p/rate";

/// The permits that the writes on the servers have taken in all, in the unit of `timed`.
std::int64_t taken_of(World& world) {
  // A write costs a chunk, and each has a version of its own.
  return std::int64_t{10} * world.ensemble.operate(request::Get{place}).stat.version;
}

/// So slow that a permit which is granted before it is due shows. Chunks are of ten permits.
constexpr RateLimit timed{.permits_per_second = 4000, .burst = 0s, .chunk = 2500us};
constexpr std::chrono::microseconds interval{250};

/// Three calls, with faults. Returns the number of requests.
std::size_t play(const Faults& faults, std::optional<std::size_t> cancelled_at = {}) {
  std::string text;
  for (const auto& [at, fault] : faults) text += std::to_string(at) + ": " + describe(fault) + "; ";
  if (cancelled_at) text += "cancelled at " + std::to_string(*cancelled_at);
  INFO(text);
  World world;
  auto client = world.client("observed");
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  std::size_t steps = 0;
  std::int64_t granted = 0;
  {
    RateLimiter limiter{*client, place, timed};
    const auto begin = std::chrono::steady_clock::now();
    asio::cancellation_signal signal;
    plan->submitted = [&](std::size_t step) {
      if (cancelled_at == step) signal.emit(asio::cancellation_type::all);
    };
    world.ensemble.set_fault_plan(plan);
    std::array<Outcome<>, 3> calls;
    limiter.async_acquire(8, asio::bind_cancellation_slot(signal.slot(), calls[0].handler()));
    limiter.async_acquire(8, calls[1].handler());
    limiter.async_acquire(8, calls[2].handler());
    for (const auto& call : calls) {
      REQUIRE(world.run_until_arrived(call));
      if (!call.error()) {
        granted += 8;
        // The first permit is due at once. Servers note whole milliseconds.
        const auto due = begin + (granted - 1) * interval - 1ms;
        CHECK(std::chrono::steady_clock::now() >= due);
      }
      if (call.error() && (!cancelled_at || call.error() != asio::error::operation_aborted)) {
        FAIL_CHECK("it fails: " << call.error().message());
      }
      CHECK(call.error() != ErrorCondition::outcome_unknown);
    }
    steps = plan->steps();
    plan->submitted = nullptr;
  }
  CHECK(world.run_until_idle(*client));
  world.ensemble.apply_late_requests();
  CHECK(granted <= taken_of(world));
  world.ensemble.set_fault_plan(nullptr);
  CHECK(world.end(client));
  return steps;
}

TEST_CASE("a rate limiter: with every fault no more is let through than was taken, nor earlier",
          "[atomics]") {
  const std::size_t steps = play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(faults_and_late_ones())) {
      const std::size_t longer = play({{at, fault}});
      for (std::size_t next = at + 1; next < std::min(longer, at + 3); ++next) {
        play({{at, fault}, {next, {.kind = FaultKind::fail_after}}});
        play({{at, fault}, {next, {.kind = FaultKind::expire_before}}});
      }
    }
    play({}, at);
    play({{at, {.kind = FaultKind::fail_after}}}, at);
  }
}

}  // namespace
}  // namespace custodian::tests::rate_limiter_faults_test
