// Acquires whose limit is shorter than the time that a busy machine may take from a thread.

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::short_tries_test {
namespace {

using namespace std::chrono_literals;

int from_environment(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// Threads that only compute, until they are destroyed.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([](const std::stop_token& stop) {
        for (std::atomic<unsigned> number = 0; !stop.stop_requested(); ++number) {
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

/// CUSTODIAN_TEST_TRIES sets the number of tries, CUSTODIAN_TEST_LOAD that of threads that compute
/// meanwhile.
TEST_CASE("short tries beside a busy machine end with a lock or a reason, and never throw") {
  const int tries = from_environment("CUSTODIAN_TEST_TRIES", 300);
  TestClient client{"short-tries"};
  Client other{options_for(client.servers())};
  client->wait_connected();
  InterProcessMutex mutex{*client, "/lock"};
  InterProcessMutex others{other, client.root() + "/lock"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 1};
  std::map<NotAcquired, int> reasons;
  int thrown = 0;
  {
    const Load load{from_environment("CUSTODIAN_TEST_LOAD", 4)};
    for (int i = 0; i < tries; ++i) {
      try {
        // In one round of ten another client holds the lock.
        const Lease in_the_way = i % 10 == 0 ? others.acquire() : Lease{};
        const AcquireResult result =
            i % 2 == 0 ? mutex.try_acquire_for(20ms) : semaphore.try_acquire_for(20ms);
        CHECK(static_cast<bool>(result) == (result.reason == NotAcquired::none));
        if (in_the_way) CHECK_FALSE(result);
        ++reasons[result.reason];
      } catch (const Error& error) {
        UNSCOPED_INFO(error.what());
        ++thrown;
      }
    }
  }
  CHECK(thrown == 0);
  std::cout << "  " << tries << " tries of 20 ms:";
  for (const auto& [reason, count] : reasons) std::cout << ' ' << count << ' ' << to_string(reason);
  std::cout << '\n';
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
  CHECK(eventually([&] { return names_below(*client, "/semaphore/leases").empty(); }));
}

}  // namespace
}  // namespace custodian::tests::short_tries_test
