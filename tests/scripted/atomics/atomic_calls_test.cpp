// The blocking forms of distributed atomics: what they return, and what they throw.

#include <boost/asio/error.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "custodian/atomics/cached_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_value.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "custodian/atomics/transact.hpp"
#include "scripted/blocking_calls.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomic_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code no_auth = ServerErrc::no_auth;
const error_code mistake = Errc::invalid_argument;
const error_code late = Errc::deadline_exceeded;
const error_code unknown = Errc::deadline_exceeded_outcome_unknown;

TEST_CASE("calls: an atomic's writes return what was there", "[atomics]") {
  BlockingClient one;
  DistributedAtomicLong number{one.client, "/number"};
  CHECK(number.load().value == 0);
  CHECK(number.initialize(5));
  CHECK_FALSE(number.initialize(6));
  CHECK(number.load().value == 5);
  number.store(7);
  const auto exchanged = number.exchange(8);
  CHECK(exchanged.before.value == 7);
  CHECK(exchanged.after.value == 8);
  CHECK(exchanged.written);
  Versioned<std::int64_t> expected = number.load();
  const Versioned<std::int64_t> former = expected;
  CHECK(number.compare_exchange(expected, 9));
  CHECK(expected == number.load());
  CHECK(expected.value == 9);
  expected = former;
  CHECK_FALSE(number.compare_exchange(expected, 10));
  CHECK(expected.value == 9);
  std::int64_t value = 3;
  CHECK_FALSE(number.compare_exchange(value, 4));
  CHECK(value == 9);
  CHECK(number.compare_exchange(value, 10));
  CHECK(value == 9);
  CHECK(number.load().value == 10);
}

template <typename Atomic>
void check_arithmetic(const Client& client, const char* path) {
  Atomic number{client, path};
  CHECK(number.fetch_add(15).after.value == 15);
  CHECK(number.fetch_sub(3).after.value == 12);
  CHECK(number.fetch_sub(-3).before.value == 12);
  CHECK_FALSE(number.fetch_max(15).written);
  CHECK(number.fetch_max(20).after.value == 20);
  CHECK_FALSE(number.fetch_min(20).written);
  CHECK(number.fetch_min(-4).after.value == -4);
  CHECK(++number == -3);
  CHECK(number++ == -3);
  CHECK(--number == -3);
  CHECK(number-- == -3);
  CHECK((number += 10) == 6);
  CHECK((number -= 4) == 2);
  const auto doubled = number.update([](auto now) { return std::optional{2 * now}; });
  CHECK(doubled.before.value == 2);
  CHECK(doubled.after.value == 4);
  const auto kept = number.update([](auto now) { return std::optional<decltype(now)>{}; });
  CHECK_FALSE(kept.written);
  CHECK(kept.after.value == 4);
}

TEST_CASE("calls: an atomic number's arithmetic is that of std::atomic", "[atomics]") {
  BlockingClient one;
  check_arithmetic<DistributedAtomicLong>(one.client, "/long");
  check_arithmetic<DistributedAtomicInteger>(one.client, "/integer");
  DistributedAtomicInteger most{one.client, "/most"};
  most.store(std::numeric_limits<std::int32_t>::max());
  CHECK(++most == std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("calls: an atomic's calls throw what the servers refuse", "[atomics]") {
  BlockingClient one;
  DistributedAtomicLong number{one.client, "/number"};
  number.store(1);
  Versioned<std::int64_t> expected = number.load();
  std::int64_t value = 1;
  one.ensemble.refuse("/number");
  check_throws(no_auth, "load", "/number", [&] { return number.load(); });
  check_throws(no_auth, "store", "/number", [&] { number.store(2); });
  check_throws(no_auth, "exchange", "/number", [&] { number.exchange(2); });
  check_throws(no_auth, "compare_exchange", "/number",
               [&] { return number.compare_exchange(expected, 2); });
  check_throws(no_auth, "compare_exchange", "/number",
               [&] { return number.compare_exchange(value, 2); });
  check_throws(no_auth, "fetch_add", "/number", [&] { number.fetch_add(2); });
  check_throws(no_auth, "fetch_sub", "/number", [&] { number.fetch_sub(2); });
  check_throws(no_auth, "fetch_max", "/number", [&] { number.fetch_max(2); });
  check_throws(no_auth, "fetch_min", "/number", [&] { number.fetch_min(0); });
  const auto same = [](std::int64_t now) { return std::optional{now}; };
  check_throws(no_auth, "update", "/number", [&] { number.update(same); });
  check_throws(mistake, "update", "/number", [&] { number.update(nullptr); });
  CachedAtomicLong cache{number};
  check_throws(no_auth, "next", "/number", [&] { return cache.next(); });
  CHECK_FALSE(cache.try_next());
  one.ensemble.refuse("/");
  DistributedAtomicLong missing{one.client, "/missing"};
  check_throws(no_auth, "initialize", "/missing", [&] { missing.initialize(1); });
}

TEST_CASE("calls: a value that is too large is refused before anything is sent", "[atomics]") {
  testing::FakeEnsemble ensemble;
  ClientOptions options = ensemble.options("one");
  options.max_request_size = 20'000;
  const Client client{options};
  const std::string large(30'000, 'x');
  DistributedAtomicValue value{client, "/value"};
  value.store("small");
  Versioned<std::string> expected = value.load();
  std::string small = "small";
  ensemble.clear_history();
  const auto refuses = [](auto call) { CHECK_THROWS_AS(call(), Error); };
  refuses([&] { value.store(large); });
  refuses([&] { value.initialize(large); });
  refuses([&] { value.exchange(large); });
  refuses([&] { static_cast<void>(value.compare_exchange(expected, large)); });
  refuses([&] { static_cast<void>(value.compare_exchange(small, large)); });
  const auto ignored = [](error_code, const auto&...) {};
  refuses([&] { value.async_store(large, ignored); });
  refuses([&] { value.async_initialize(large, ignored); });
  refuses([&] { value.async_exchange(large, ignored); });
  refuses([&] { value.async_compare_exchange(expected, large, ignored); });
  refuses([&] { value.async_compare_exchange(small, large, ignored); });
  CHECK(ensemble.history().empty());
}

TEST_CASE("calls: an atomic's calls end at their deadlines though no thread runs the context",
          "[atomics]") {
  UnrunClient mine;
  const auto brief = [] { return OperationOptions{UnrunClient::brief}; };
  {
    DistributedAtomicLong number{*mine.client, "/number"};
    Versioned<std::int64_t> expected;
    std::int64_t value = 1;
    check_throws(late, "load", "/number", [&] { return number.load(brief()); });
    check_throws(unknown, "store", "/number", [&] { number.store(2, brief()); });
    check_throws(unknown, "initialize", "/number", [&] { number.initialize(2, brief()); });
    check_throws(unknown, "exchange", "/number", [&] { number.exchange(2, brief()); });
    check_throws(unknown, "compare_exchange", "/number",
                 [&] { return number.compare_exchange(expected, 2, brief()); });
    check_throws(unknown, "compare_exchange", "/number",
                 [&] { return number.compare_exchange(value, 2, brief()); });
    check_throws(unknown, "fetch_add", "/number", [&] { number.fetch_add(2, brief()); });
    const auto same = [](std::int64_t now) { return std::optional{now}; };
    check_throws(unknown, "update", "/number", [&] { number.update(same, brief()); });
    CachedAtomicLong cache{number};
    check_throws(late, "next", "/number", [&] { return cache.next(brief()); });
    RateLimiter limiter{*mine.client, "/rate", {}};
    check_throws(late, "try_acquire", "/rate", [&] { return limiter.try_acquire(); });
    check_throws(late, "try_acquire_for", "/rate",
                 [&] { return limiter.try_acquire_for(UnrunClient::brief); });
    TransactOptions options{.deadline = UnrunClient::brief};
    check_throws(late, "get", "/a", [&] {
      transact(
          *mine.client, [](TransactionView& view) { return view.get("/a"); }, options);
    });
    options.deadline = UnrunClient::brief;
    check_throws(unknown, "transact", "", [&] {
      transact(
          *mine.client, [](TransactionView& view) { view.create("/a"); }, options);
    });
  }
}

TEST_CASE("calls: a rate limiter's limits are those of its options", "[atomics]") {
  BlockingClient one;
  const auto make = [&](const RateLimit& limit) { return RateLimiter{one.client, "/rate", limit}; };
  CHECK_NOTHROW(make({.permits_per_second = 1e9}));
  CHECK_NOTHROW(make({.burst = 24h}));
  CHECK_NOTHROW(make({.burst = 0s}));
  CHECK_NOTHROW(make({.chunk = 24h}));
  CHECK_NOTHROW(make({.chunk = 0s}));
  CHECK_THROWS_AS(make({.burst = 24h + 1ns}), Error);
  CHECK_THROWS_AS(make({.chunk = 24h + 1ns}), Error);
  CHECK_THROWS_AS(make({.permits_per_second = 3e-10}), Error);
  RateLimiter limiter{one.client, "/rate", {.permits_per_second = 1e9}};
  limiter.acquire(5);
  CHECK(limiter.try_acquire_for(5, Deadline{1h}));
  CHECK(limiter.try_acquire_for(Deadline{1h}));
  check_throws(mistake, "RateLimiter", "/rate",
               [&] { return limiter.try_acquire_for(0, Deadline{1h}); });
  check_throws(mistake, "RateLimiter", "/rate", [&] { return limiter.try_acquire(0); });
  one.make("/other");
  one.ensemble.refuse("/other");
  RateLimiter other{one.client, "/other", {}};
  check_throws(no_auth, "acquire", "/other", [&] { other.acquire(); });
  check_throws(no_auth, "try_acquire", "/other", [&] { return other.try_acquire(); });
  check_throws(no_auth, "try_acquire_for", "/other",
               [&] { return other.try_acquire_for(Deadline{1h}); });
  check_throws(boost::asio::error::operation_aborted, "acquire", "/rate2", [&] {
    one.make("/rate2");
    RateLimiter slow{one.client, "/rate2", {.permits_per_second = 1e-6, .burst = 0s}};
    slow.acquire(1, BlockingClient::stopped());
    slow.acquire(1, BlockingClient::stopped());
  });
}

TEST_CASE(
    "calls: a transaction's calls throw what the servers refuse, and arguments that are wrong",
    "[atomics]") {
  BlockingClient one;
  one.make("/a", "data");
  const auto read = [](TransactionView& view) { return view.get("/a"); };
  CHECK(transact(one.client, read) == "data");
  transact(one.client, [](TransactionView& view) {
    CHECK(view.get("/a") == "data");
    CHECK(view.get("/a") == "data");
    view.set("/a", "new");
    CHECK(view.get("/a") == "new");
    view.create("/b", "b");
    CHECK(view.get("/b") == "b");
  });
  CHECK(transact(one.client, read) == "new");
  transact(one.client, [](TransactionView& view) {
    CHECK(view.get("/b") == "b");
    view.remove("/b");
    CHECK_FALSE(view.get("/b"));
  });
  CHECK_FALSE(one.ensemble.exists("/b"));
  const auto refused = [&](auto use) {
    try {
      transact(one.client, use);
      FAIL_CHECK("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == mistake);
    }
  };
  refused([](TransactionView& view) { return view.get("a"); });
  refused([](TransactionView& view) { view.set("a", ""); });
  refused([](TransactionView& view) { view.create("a"); });
  refused([](TransactionView& view) { view.create("/"); });
  refused([](TransactionView& view) { view.remove("a"); });
  refused([](TransactionView& view) { view.remove("/"); });
  one.ensemble.refuse("/a");
  check_throws(no_auth, "get", "/a", [&] { transact(one.client, read); });
  one.ensemble.refuse("/");
  check_throws(no_auth, "transact", "",
               [&] { transact(one.client, [](TransactionView& view) { view.create("/c"); }); });
}

}  // namespace
}  // namespace custodian::tests::atomic_calls_test
