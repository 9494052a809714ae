// with_lock() when no server can be reached.

#include <future>
#include <memory>
#include <mutex>

#include "custodian/locks/with_lock.hpp"
#include "integration/locks/with_lock_calls.hpp"

namespace custodian::tests::with_lock_away_test {
namespace {

using namespace std::chrono_literals;
using with_lock_calls::busy;
using with_lock_calls::error_of_call;
using with_lock_calls::Failure;
using with_lock_calls::nowhere;
using with_lock_calls::TimedLock;

TEST_CASE("away: thrown, skipped, or run under the fallback, which keeps others out") {
  Client away{options_for(nowhere)};
  int ran = 0;
  const auto run = [&] { ++ran; };
  CHECK(error_of_call([&] { return with_lock(away, "/lock", {.wait = 300ms}, run); }) ==
        Errc::not_connected);
  CHECK(error_of_call([&] { return with_lock(away, "/lock", {.wait = 0ms}, run); }) ==
        Errc::not_connected);
  CHECK(message_of([&] {
          static_cast<void>(
              undisturbed([&] { return with_lock(away, "/lock", {.wait = 0ms}, run); }));
        }).find("no connection to " + std::string{nowhere}) != std::string::npos);
  CHECK_FALSE(undisturbed([&] {
    return with_lock(away, "/lock", {.wait = 300ms, .when_away = Otherwise::skip}, run);
  }));
  // A call that is skipped when the lock is busy still throws when ZooKeeper is away.
  CHECK(error_of_call([&] {
          return with_lock(away, "/lock", {.wait = 0ms, .when_busy = Otherwise::skip}, run);
        }) == Errc::not_connected);
  CHECK(ran == 0);

  TimedLock fallback;
  const WithLockOptions options{.wait = 300ms, .fallback = fallback};
  const auto call = undisturbed([&] {
    return with_lock(away, "/lock", options, [&](const Lease& lease) {
      ++ran;
      CHECK_FALSE(lease);
      CHECK(lease.token() == FencingToken{});
      return std::async(std::launch::async, [&] { return fallback.try_lock(); }).get();
    });
  });
  CHECK(call.under == Under::fallback);
  CHECK(call.value == false);
  CHECK(ran == 1);
  const auto failing = [&] { return with_lock(away, "/lock", options, [] { throw Failure{}; }); };
  CHECK_THROWS_AS(undisturbed(failing), Failure);
  // Both calls have unlocked the fallback.
  CHECK(fallback.try_lock());
  fallback.unlock();
}

TEST_CASE("away, and somebody else holds the fallback: busy, within the wait") {
  Client away{options_for(nowhere)};
  const auto fallback = std::make_shared<TimedLock>();
  const std::lock_guard guard{*fallback};
  const auto elsewhere = [&](Otherwise when_busy) {
    return std::async(std::launch::async,
                      [&, when_busy] {
                        return with_lock(
                            away, "/lock",
                            {.wait = 100ms, .when_busy = when_busy, .fallback = fallback},
                            [] { FAIL("two are in"); });
                      })
        .get();
  };
  CHECK(elsewhere(Otherwise::skip).under == Under::nothing);
  CHECK(error_of_call([&] { return elsewhere(Otherwise::fail); }) == busy);
}

}  // namespace
}  // namespace custodian::tests::with_lock_away_test
