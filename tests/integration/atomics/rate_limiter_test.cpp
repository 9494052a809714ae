// A rate limiter on a real server: its faces, and processes that share a rate.

#include "custodian/atomics/rate_limiter.hpp"

#include <boost/asio/use_future.hpp>
#include <thread>
#include <vector>

#include "support/test_client.hpp"

namespace custodian::tests::integration_rate_limiter_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST_CASE("a rate limiter has a blocking face and one for tokens") {
  TestClient client{"rate"};
  RateLimiter limiter{*client, "/rate", {.permits_per_second = 0.001, .burst = 0s, .chunk = 0s}};
  CHECK(limiter.try_acquire());
  CHECK_FALSE(limiter.try_acquire());
  CHECK_FALSE(limiter.try_acquire_for(20ms));
  CHECK_FALSE(limiter.async_try_acquire(boost::asio::use_future).get());
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(limiter.acquire(1, stop.get_token()), Error);
  RateLimiter quick{*client, "/quick", {.permits_per_second = 1000}};
  quick.acquire();
  quick.acquire(20);
  CHECK(quick.try_acquire_for(2s));
  quick.async_acquire(5, boost::asio::use_future).get();
  CHECK(quick.path() == "/quick");
}

TEST_CASE("threads of three clients share a rate, thousands a second, and never exceed it") {
  TestClient client{"shared-rate"};
  constexpr RateLimit limit{.permits_per_second = 4000, .burst = 0s, .chunk = 50ms};
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    ClientOptions options = options_for(client.servers());
    options.name_space = client.root();
    clients.push_back(std::make_unique<Client>(std::move(options)));
    clients.back()->wait_connected();
  }
  constexpr int each = 1000;
  constexpr int threads_each = 2;
  const auto begin = Clock::now();
  std::vector<std::jthread> threads;
  std::vector<int> had(clients.size() * threads_each);
  for (std::size_t i = 0; i < had.size(); ++i) {
    threads.emplace_back(
        [&, i, limiter = RateLimiter{*clients[i / threads_each], "/rate", limit}]() mutable {
          for (; had[i] < each; ++had[i]) limiter.acquire();
        });
  }
  threads.clear();
  const std::chrono::duration<double> took = Clock::now() - begin;
  const auto permits = static_cast<double>(each) * static_cast<double>(had.size());
  WARN(permits / took.count() << " permits a second of " << limit.permits_per_second);
  // Each limiter may still hold a chunk and a quarter, but none lets through what is not due.
  CHECK(took.count() >= (permits - 1) / limit.permits_per_second - 0.001);
}

}  // namespace
}  // namespace custodian::tests::integration_rate_limiter_test
