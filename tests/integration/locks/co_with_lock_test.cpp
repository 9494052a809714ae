// co_with_lock(), the coroutine form: with_lock_test.cpp has the same cases for with_lock().

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/with_lock.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::co_with_lock_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// An address without a server.
constexpr auto nowhere = "127.0.0.1:1";
const error_code busy = make_error_code(boost::system::errc::device_or_resource_busy);

struct Failure : std::runtime_error {
  Failure() : std::runtime_error{"the function fails"} {}
};

template <typename Function>
error_code error_of_call(Function function) {
  return error_of([&] { static_cast<void>(function()); });
}

// Captures are safe here: co_with_lock() keeps the lambda and the lease until the lambda's
// coroutine has ended.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

/// Runs a coroutine in a context of its own.
template <typename Value>
Value run(asio::awaitable<Value> coroutine) {
  asio::io_context context;
  std::exception_ptr failure;
  std::optional<Value> result;
  asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr error, Value value) {
    failure = error;
    result.emplace(std::move(value));
  });
  context.run_for(patience);
  REQUIRE((failure || result));
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

TEST_CASE("a coroutine runs under the lock, and is told what a function is told") {
  TestClient client{"coroutine"};
  InterProcessMutex mutex{*client, "/lock"};
  const auto work = [&](const Lease& lease) -> asio::awaitable<int> {
    CHECK(lease.state() == LeaseState::held);
    asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
    co_await timer.async_wait(asio::use_awaitable);
    co_return 5;
  };
  auto call = run(co_with_lock(*client, "/lock", {.wait = patience}, work));
  CHECK(call.under == Under::lock);
  CHECK(call.value == 5);

  const auto failing = []() -> asio::awaitable<void> {
    throw Failure{};
    co_return;
  };
  CHECK_THROWS_AS(run(co_with_lock(*client, "/lock", {.wait = patience}, failing)), Failure);
  const auto held = mutex.try_acquire_for(patience);
  REQUIRE(held);

  const auto never = []() -> asio::awaitable<void> {
    FAIL("two are in");
    co_return;
  };
  CHECK_FALSE(
      run(co_with_lock(*client, "/lock", {.wait = 100ms, .when_busy = Otherwise::skip}, never)));
  CHECK(error_of_call([&] { return run(co_with_lock(*client, "/lock", {.wait = 0ms}, never)); }) ==
        busy);
  const std::stop_source stop;
  CHECK(error_of_call([&] {
          return run(co_with_lock(*client, "/lock", {.stop = stop.get_token()}, never));
        }) == Errc::invalid_argument);
  std::mutex blocking;
  CHECK(error_of_call([&] {
          return run(co_with_lock(*client, "/lock", {.fallback = blocking}, never));
        }) == Errc::invalid_argument);
}

TEST_CASE("a coroutine falls back on what it can await, and lets go of it") {
  Client away{options_for(nowhere)};
  bool free = true;
  const AsyncFallback fallback =
      [&](std::string path, std::chrono::nanoseconds) -> asio::awaitable<std::shared_ptr<void>> {
    CHECK(path == "/lock");
    if (!std::exchange(free, false)) co_return nullptr;
    co_return std::shared_ptr<void>{&free, [](void* mine) { *static_cast<bool*>(mine) = true; }};
  };
  const auto work = [&](const Lease& lease) -> asio::awaitable<bool> {
    CHECK_FALSE(lease);
    co_return free;
  };
  const WithLockOptions options{.wait = 200ms, .connection_wait = 50ms, .async_fallback = fallback};
  const auto call = run(co_with_lock(away, "/lock", options, work));
  CHECK(call.under == Under::fallback);
  CHECK(call.value == false);
  CHECK(free);
  free = false;
  CHECK(error_of_call([&] { return run(co_with_lock(away, "/lock", options, work)); }) == busy);
  CHECK(error_of_call([&] { return with_lock(away, "/lock", options, [] {}); }) ==
        Errc::invalid_argument);
}

TEST_CASE("a coroutine that is cancelled while it waits leaves no node") {
  TestClient client{"cancelled"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease held = mutex.acquire();
  asio::io_context context;
  asio::cancellation_signal signal;
  error_code ended;
  const auto never = []() -> asio::awaitable<void> {
    FAIL("two are in");
    co_return;
  };
  asio::co_spawn(context, co_with_lock(*client, "/lock", {.wait = patience}, never),
                 asio::bind_cancellation_slot(
                     signal.slot(), [&](std::exception_ptr error, const LockedCall<void>&) {
                       ended = error_of([&] { std::rethrow_exception(error); });
                     }));
  std::jthread cancels{[&] {
    static_cast<void>(eventually([&] { return mutex.queue_length() == 2; }));
    asio::post(context, [&] { signal.emit(asio::cancellation_type::terminal); });
  }};
  context.run_for(patience);
  CHECK(ended == asio::error::operation_aborted);
  CHECK(eventually([&] { return mutex.queue_length() == 1; }));
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace custodian::tests::co_with_lock_test
