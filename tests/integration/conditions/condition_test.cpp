// Conditions on real servers: a bounded buffer while connections are cut, the standard face, what
// threads hold, and many waiters.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::condition_test {
namespace {

using namespace std::chrono_literals;

/// A client with the lock and the condition.
struct Party {
  explicit Party(const ClientOptions& options) : client{options} {}
  Client client;
  InterProcessMutex mutex{client, "/buffer/lock"};
  InterProcessCondition changed{mutex, "/buffer/changed"};
};

/// Data that processes would keep in a database. The mutex is for the sanitizer, which does not
/// know that the lock orders the accesses.
class Buffer {
 public:
  static constexpr std::size_t room = 2;
  [[nodiscard]] bool is_full() {
    const std::lock_guard lock{mutex_};
    return items_.size() == room;
  }
  [[nodiscard]] bool is_empty() {
    const std::lock_guard lock{mutex_};
    return items_.empty();
  }
  void put(int item) {
    const std::lock_guard lock{mutex_};
    items_.push_back(item);
  }
  [[nodiscard]] int take() {
    const std::lock_guard lock{mutex_};
    const int item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::deque<int> items_;
};

TEST_CASE("a bounded buffer loses no item while connections are cut") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  constexpr int each = 15;
  constexpr int pairs = 2;
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  ClientOptions options = options_for(proxy.connect_string());
  options.session_timeout = 30s;
  Buffer buffer;
  std::atomic<int> taken{0};
  std::atomic<long> sum{0};
  const Deadline end{patience};
  std::atomic<int> late{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < pairs; ++i) {
      threads.emplace_back([&, i] {
        Party producer{options};
        for (int k = 0; k < each; ++k) {
          std::unique_lock lock{producer.mutex};
          if (!producer.changed.wait_until(lock, end, [&] { return !buffer.is_full(); })) ++late;
          buffer.put(i * each + k);
          producer.changed.notify_all();
        }
      });
      threads.emplace_back([&] {
        Party consumer{options};
        for (int k = 0; k < each; ++k) {
          std::unique_lock lock{consumer.mutex};
          if (!consumer.changed.wait_until(lock, end, [&] { return !buffer.is_empty(); })) {
            ++late;
            return;
          }
          sum += buffer.take();
          ++taken;
          consumer.changed.notify_all();
        }
      });
    }
    while (taken < pairs * each && !end.passed() && late == 0) {
      std::this_thread::sleep_for(200ms);
      proxy.cut(testing::Ending::reset);
    }
  }
  CHECK(late == 0);
  CHECK(taken == pairs * each);
  CHECK(sum == pairs * each * (pairs * each - 1) / 2);
  Client bystander{options_for(server.connect_string())};
  CHECK(eventually([&] {
    return !bystander.exists("/buffer/changed") ||
           bystander.children("/buffer/changed").names.empty();
  }));
}

TEST_CASE("a thread that waits has all its holds again") {
  TestClient client{"condition"};
  InterProcessMutex mutex{*client, "/a/lock"};
  const InterProcessCondition changed{mutex, "/a/changed"};
  TestClient other{"condition"};
  InterProcessMutex others{*other, "/a/lock"};
  const InterProcessCondition others_changed{others, "/a/changed"};

  std::unique_lock lock{mutex};
  const std::unique_lock again{mutex};
  const FencingToken before = mutex.current_lease().token();
  std::jthread signaller{[&] {
    // The lock is free only while the other thread waits.
    const std::unique_lock held{others};
    others_changed.notify_one();
  }};
  changed.wait(lock);
  CHECK(mutex.hold_count() == 2);
  CHECK(mutex.current_lease().token() > before);
  CHECK(changed.wait_for(lock, 1ms) == std::cv_status::timeout);
  CHECK(mutex.hold_count() == 2);
}

TEST_CASE("a stop ends a wait, with the lock") {
  TestClient client{"condition"};
  InterProcessMutex mutex{*client, "/a/lock"};
  const InterProcessCondition changed{mutex, "/a/changed"};
  std::atomic<bool> waits{false};
  std::jthread waiter{[&](const std::stop_token& stop) {
    std::unique_lock lock{mutex};
    waits = true;
    CHECK_FALSE(changed.wait(lock, stop, [] { return false; }));
    CHECK(lock.owns_lock());
    CHECK(mutex.owns_lock());
  }};
  REQUIRE(eventually([&] { return waits.load(); }));
  std::this_thread::sleep_for(50ms);
  waiter.request_stop();
  waiter.join();
  Lease lease = mutex.acquire();
  std::stop_source source;
  source.request_stop();
  CHECK(changed.wait(lease, source.get_token()) == ConditionStatus::stopped);
  CHECK(lease.state() == LeaseState::held);
  CHECK(changed.wait_for(lease, 1ms) == ConditionStatus::timeout);
}

TEST_CASE("the standard face wants the lock of this thread, and all of it") {
  TestClient client{"condition"};
  InterProcessMutex mutex{*client, "/a/lock"};
  InterProcessMutex another{*client, "/a/lock"};
  const InterProcessCondition changed{mutex, "/a/changed"};
  const auto not_permitted = make_error_code(boost::system::errc::operation_not_permitted);
  CHECK(error_of([&] { changed.notify_one(); }) == not_permitted);
  CHECK(error_of([&] { changed.notify_all(); }) == not_permitted);
  std::unique_lock lock{mutex, std::defer_lock};
  CHECK(error_of([&] { changed.wait(lock); }) == not_permitted);
  std::unique_lock wrong{another, std::defer_lock};
  CHECK(error_of([&] { changed.wait(wrong); }) == Errc::invalid_argument);
  lock.lock();
  {
    const Lease shared = mutex.current_lease();
    CHECK(error_of([&] { changed.wait(lock); }) == not_permitted);
    CHECK(mutex.owns_lock());
  }
  changed.notify_all();
  CHECK(changed.wait_for(lock, 1ms) == std::cv_status::timeout);
}

TEST_CASE("a thread whose wait fails has lost the lock, and unlocks it as often as it locked it") {
  TestClient client{"condition"};
  InterProcessMutex mutex{*client, "/a/lock"};
  const InterProcessCondition changed{mutex, "/a/changed"};
  const std::scoped_lock outer{mutex};
  std::unique_lock lock{mutex};
  std::jthread closing{[&] {
    std::this_thread::sleep_for(100ms);
    client->close();
  }};
  CHECK(error_of([&] { changed.wait(lock); }) == Errc::closed);
  CHECK(lock.owns_lock());
  CHECK_FALSE(mutex.owns_lock());
  CHECK(mutex.hold_count() == 2);
  CHECK(error_of([&] { mutex.lock(); }) == Errc::lock_lost);
}

TEST_CASE("a writer waits at a condition while others read") {
  TestClient client{"condition"};
  InterProcessReadWriteLock lock{*client, "/a/lock"};
  const InterProcessCondition changed{lock.write(), "/a/changed"};
  TestClient other{"condition"};
  InterProcessReadWriteLock others{*other, "/a/lock"};
  const InterProcessCondition others_changed{others.write(), "/a/changed"};
  std::unique_lock held{lock.write()};
  std::jthread signaller{[&] {
    { const std::shared_lock reading{others.read()}; }
    const std::unique_lock writing{others.write()};
    others_changed.notify_one();
  }};
  changed.wait(held);
  CHECK(lock.write().owns_lock());
  const std::shared_lock reading{lock.read()};
  CHECK(error_of([&] { changed.wait(held); }) ==
        make_error_code(boost::system::errc::resource_deadlock_would_occur));
}

TEST_CASE("a signal reaches a waiter whose connection is down when it is given") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  ClientOptions options = options_for(proxy.connect_string());
  options.session_timeout = 30s;
  Party waiter{options};
  Party signaller{options_for(server.connect_string())};
  Lease lease = waiter.mutex.acquire();
  auto woken = begun<Woken>(
      [&](auto done) { waiter.changed.async_wait(std::move(lease), std::move(done)); });
  {
    const Lease held = signaller.mutex.acquire();
    proxy.refuse();
    proxy.cut();
    CHECK(signaller.changed.signal(held) == 1);
  }
  proxy.accept();
  REQUIRE(woken.wait_for(patience) == std::future_status::ready);
  const auto [error, result] = woken.get();
  CHECK_FALSE(error);
  CHECK(result.status == ConditionStatus::signalled);
  CHECK(result.lease.state() == LeaseState::held);
}

/// Waiters at one condition, of a few sessions.
class Crowd {
 public:
  Crowd(const Server& server, std::size_t waiters) {
    for (std::size_t i = 0; i < std::min<std::size_t>(waiters, 10); ++i) {
      parties_.push_back(std::make_unique<Party>(options_for(server.connect_string())));
    }
    for (std::size_t i = 0; i < waiters; ++i) {
      Party& party = *parties_[i % parties_.size()];
      party.changed.async_wait(party.mutex.acquire(), [this, i](error_code error, Woken woken) {
        const std::lock_guard lock{mutex_};
        if (!error && woken.status == ConditionStatus::signalled) woken_.push_back(i);
      });
    }
  }

  /// The numbers of the waiters that were signalled and have had the lock again.
  [[nodiscard]] std::vector<std::size_t> woken() const {
    const std::lock_guard lock{mutex_};
    return woken_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::size_t> woken_;
  std::vector<std::unique_ptr<Party>> parties_;  // the last member: a handler may still run
};

// CUSTODIAN_TEST_WAITERS=<number> sets the number of waiters, and prints their cost.
TEST_CASE("signals wake as many of many waiters, those that came first, by one event each") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const char* const given = std::getenv("CUSTODIAN_TEST_WAITERS");
  const std::size_t waiters = given == nullptr ? 40 : std::strtoul(given, nullptr, 10);
  const std::size_t some = waiters / 4;
  Server server;
  Crowd crowd{server, waiters};
  // Each waiter watches its own node, and all but the first one the node in front of it.
  const auto are_asleep = [&](std::size_t number) {
    return server.statistic("zk_watch_count") == static_cast<std::int64_t>(2 * number - 1);
  };
  REQUIRE(eventually([&] { return are_asleep(waiters); }));
  Party signaller{options_for(server.connect_string())};
  // A signal is written into the waiter's node.
  const auto signals = [&] { return server.statistic("zk_sum_node_changed_watch_count"); };
  const auto requests = [&] { return server.statistic("zk_packets_received"); };
  const auto before = signals();
  const auto asked = requests();

  {
    const Lease lease = signaller.mutex.acquire();
    for (std::size_t i = 0; i < some; ++i) REQUIRE(signaller.changed.signal(lease) == 1);
    CHECK(signals() - before == static_cast<std::int64_t>(some));
  }
  REQUIRE(eventually([&] { return crowd.woken().size() == some; }));
  // The waiters that came first were signalled. The order in which they then queue for the lock
  // depends on their sessions.
  for (const std::size_t each : crowd.woken()) CHECK(each < some);
  REQUIRE(eventually([&] { return are_asleep(waiters - some); }));
  if (given != nullptr) {
    WARN(some << " of " << waiters << " signalled one by one: " << signals() - before
              << " signals arrived, " << requests() - asked << " requests");
  }

  const auto asked_again = requests();
  {
    const Lease lease = signaller.mutex.acquire();
    REQUIRE(signaller.changed.signal_all(lease) == waiters - some);
    CHECK(signals() - before == static_cast<std::int64_t>(waiters));
  }
  REQUIRE(eventually([&] { return crowd.woken().size() == waiters; }));
  if (given != nullptr) {
    WARN(waiters - some << " signalled at once: " << requests() - asked_again << " requests");
  }
}

}  // namespace
}  // namespace custodian::tests::condition_test
