// co_with_lock(), a coroutine's call under a lock: through every fault at every request, and when
// the lock is lost.

#include "custodian/locks/with_lock.hpp"

#include <boost/asio/co_spawn.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::with_lock_test {

namespace asio = boost::asio;

namespace {

constexpr auto path = "/lock";

/// How a call under the lock has ended.
struct Ending {
  bool arrived = false;
  error_code error{};
  LockedCall<int> call{};
};

using Work = std::function<asio::awaitable<int>(const Lease&)>;

Ending call_under_lock(World& world, Client& client, WithLockOptions options, Work work) {
  const auto ending = std::make_shared<Ending>();
  asio::co_spawn(world.context, co_with_lock(client, path, std::move(options), std::move(work)),
                 [ending](std::exception_ptr failure, LockedCall<int> call) {
                   ending->arrived = true;
                   ending->call = std::move(call);
                   try {
                     if (failure) std::rethrow_exception(failure);
                   } catch (const Error& error) {
                     ending->error = error.code();
                   }
                 });
  world.run_until([&] { return ending->arrived; });
  return std::move(*ending);
}

// References and captures are safe: co_with_lock() keeps the function and the lease until the
// coroutine has ended.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

asio::awaitable<int> seven(const Lease& /*lease*/) { co_return 7; }

asio::awaitable<int> until_lost(const Lease& lease) {
  co_await lease.async_wait_lost(asio::as_tuple(asio::use_awaitable));
  co_return 7;
}

TEST_CASE("with_lock: a call runs under the lock through every fault, and leaves nothing",
          "[with-lock]") {
  std::size_t steps = 1;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) {
      World world;
      auto observed = world.client("observed");
      const auto plan = std::make_shared<FaultsAt>("observed", Faults{{at, fault}});
      world.ensemble.set_fault_plan(plan);
      const Ending ending =
          call_under_lock(world, *observed, {.when_lost = WhenLost::is_reported}, seven);
      INFO("request " << at << ": " << describe(fault));
      REQUIRE(ending.arrived);
      CHECK_FALSE(ending.error);
      CHECK(ending.call.under == Under::lock);
      CHECK(ending.call.value == 7);
      CHECK(world.run_until_idle(*observed));
      CHECK(world.ensemble.children(path).empty());
      steps = std::max(steps, plan->steps());
      CHECK(world.end(observed));
    }
  }
  CHECK(steps > 2);
}

TEST_CASE("with_lock: a lock that was lost before the function had ended is thrown or told",
          "[with-lock]") {
  World world;
  auto observed = world.client("observed");
  WithLockOptions options{.hold_at_most = std::chrono::milliseconds{1}};
  CHECK(call_under_lock(world, *observed, options, until_lost).error == Errc::lock_lost);
  options.when_lost = WhenLost::is_reported;
  const Ending told = call_under_lock(world, *observed, options, until_lost);
  CHECK_FALSE(told.error);
  CHECK(told.call.value == 7);
  CHECK(told.call.loss == LossReason::held_too_long);
  CHECK(world.run_until_idle(*observed));
  CHECK(world.ensemble.children(path).empty());
  CHECK(world.end(observed));
}

TEST_CASE("with_lock: a fallback is not asked for while somebody is seen to hold the lock",
          "[with-lock]") {
  World world;
  auto other = world.client("other");
  auto observed = world.client("observed");
  {
    InterProcessMutex mutex{*other, path};
    auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(held.arrived());
    bool asked = false;
    const AsyncFallback fallback =
        [&asked](std::string, std::chrono::nanoseconds) -> asio::awaitable<std::shared_ptr<void>> {
      asked = true;
      co_return nullptr;
    };
    const WithLockOptions options{.wait = std::chrono::milliseconds{0},
                                  .when_busy = Otherwise::skip,
                                  .async_fallback = fallback};
    const Ending ending = call_under_lock(world, *observed, options, seven);
    REQUIRE(ending.arrived);
    CHECK_FALSE(ending.error);
    CHECK_FALSE(ending.call);
    REQUIRE(ending.call.blocked_by);
    CHECK(ending.call.blocked_by->identity == "other");
    CHECK_FALSE(asked);
    CHECK(world.run_until_idle(*observed));
    CHECK(world.ensemble.children(path).size() == 1);
  }
  CHECK(world.end(observed));
  CHECK(world.end(other));
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace custodian::tests::with_lock_test
