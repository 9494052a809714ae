// A client that keeps a lock and acquires it again and again, among other clients that want it,
// too.
//
// CUSTODIAN_TEST_KEEPER_SECONDS sets for how long; by default a few seconds.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <list>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::kept_fairness_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// A client with a session of its own, and a thread that takes the lock without a pause.
class Contender {
 public:
  Contender(const TestClient& root, const std::string& servers, LockOptions lock)
      : client_{options(root, servers)}, mutex_{client_, "/lock", lock} {}

  void take_turns(std::atomic<int>& inside, std::atomic<int>& violations, Deadline end) {
    while (!end.passed()) {
      const auto asked = steady_clock::now();
      Lease lease = mutex_.acquire();
      longest_ = std::max(longest_, steady_clock::now() - asked);
      if (inside++ != 0) ++violations;
      ++turns_;
      --inside;
    }
  }
  [[nodiscard]] long turns() const noexcept { return turns_; }
  [[nodiscard]] long long longest_ms() const { return longest_ / 1ms; }

 private:
  static ClientOptions options(const TestClient& root, const std::string& servers) {
    ClientOptions options = options_for(servers);
    options.name_space = root.root();
    return options;
  }

  Client client_;
  InterProcessMutex mutex_;
  long turns_ = 0;
  steady_clock::duration longest_{};
};

TEST_CASE("kept: others have equal turns beside a client that takes its lock without a pause") {
  const std::chrono::seconds how_long{number_in("CUSTODIAN_TEST_KEEPER_SECONDS", 4)};
  const auto latency = GENERATE(0ms, 100ms);
  TestClient root{"kept-fairness"};
  testing::FaultProxy proxy{client_endpoint()};
  if (latency != 0ms) proxy.delay(testing::Direction::both, latency);
  Contender keeper{root, proxy.connect_string(), {.keep_idle_for = 10min}};
  std::list<Contender> others;
  for (int i = 0; i < 4; ++i) others.emplace_back(root, proxy.connect_string(), LockOptions{});
  std::atomic<int> inside = 0;
  std::atomic<int> violations = 0;
  {
    const Deadline end{how_long};
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { keeper.take_turns(inside, violations, end); });
    for (Contender& each : others) {
      threads.emplace_back([&] { each.take_turns(inside, violations, end); });
    }
  }
  CHECK(violations == 0);
  const auto [least, most] = std::ranges::minmax_element(others, {}, &Contender::turns);
  // A client that begins later has fewer turns, by as many as the others have had before.
  CHECK(least->turns() >= 1);
  std::cout << "  behind " << 2 * latency / 1ms << " ms: the keeper " << keeper.turns()
            << " turns, longest wait " << keeper.longest_ms() << " ms; the others";
  for (const Contender& each : others) {
    std::cout << ' ' << each.turns() << " (" << each.longest_ms() << " ms)";
  }
  std::cout << '\n';
  CHECK(most->turns() <= 2 * least->turns() + 5);
}

}  // namespace
}  // namespace custodian::tests::kept_fairness_test
