// The blocking forms of conditions: what they return, and what they throw.

#include <boost/asio/error.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/blocking_calls.hpp"
#include "support/catch.hpp"

namespace custodian::tests::condition_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code no_auth = ServerErrc::no_auth;
const error_code not_permitted = make_error_code(boost::system::errc::operation_not_permitted);

struct Fixture : BlockingClient {
  InterProcessMutex mutex{client, "/lock"};
  InterProcessCondition condition{mutex, "/changed"};

  /// Returns whether a waiter is in the line, and has released the lock.
  [[nodiscard]] bool is_waited_for() const {
    return ensemble.exists("/changed") && !ensemble.children("/changed").empty() &&
           ensemble.children("/lock").empty();
  }
};

TEST_CASE("calls: a condition's statuses have names", "[condition]") {
  CHECK(to_string(ConditionStatus::signalled) == "signalled");
  CHECK(to_string(ConditionStatus::spurious) == "spurious");
  CHECK(to_string(ConditionStatus::timeout) == "timeout");
  CHECK(to_string(ConditionStatus::stopped) == "stopped");
}

TEST_CASE("calls: a wait with a lease ends with the lock, however it ends", "[condition]") {
  Fixture one;
  Lease lease = one.mutex.acquire();
  CHECK(one.condition.wait_for(lease, 20ms) == ConditionStatus::timeout);
  CHECK(lease.state() == LeaseState::held);
  CHECK(one.condition.wait(lease, BlockingClient::stopped()) == ConditionStatus::stopped);
  CHECK(lease.state() == LeaseState::held);
  CHECK(one.condition.signal(lease) == 0);
  CHECK(one.condition.signal_all(lease) == 0);
  lease.release();
}

TEST_CASE("calls: a wait with a lease ends with a signal", "[condition]") {
  Fixture one;
  for (const bool all : {false, true}) {
    ConditionStatus status = ConditionStatus::spurious;
    std::size_t signalled = 0;
    {
      Lease lease = one.mutex.acquire();
      const std::jthread waiting{[&, held = std::move(lease)]() mutable {
        status = one.condition.wait(held);
        held.release();
      }};
      CHECK(until([&] { return one.is_waited_for(); }));
      const Lease other = one.mutex.acquire();
      signalled = all ? one.condition.signal_all(other) : one.condition.signal(other);
    }
    CHECK(signalled == 1);
    CHECK(status == ConditionStatus::signalled);
  }
}

TEST_CASE("calls: a condition's calls throw what the servers refuse", "[condition]") {
  Fixture one;
  Lease lease = one.mutex.acquire();
  one.make("/changed");
  one.ensemble.refuse("/changed");
  check_throws(no_auth, "InterProcessCondition::signal", "/changed",
               [&] { one.condition.signal(lease); });
  check_throws(no_auth, "InterProcessCondition::signal_all", "/changed",
               [&] { one.condition.signal_all(lease); });
  check_throws(no_auth, "InterProcessCondition::wait", "/changed",
               [&] { one.condition.wait(lease); });
  CHECK_FALSE(lease);
}

TEST_CASE("calls: a thread that does not hold the lock neither waits nor notifies", "[condition]") {
  Fixture one;
  InterProcessMutex other{one.client, "/other"};
  check_throws(not_permitted, "InterProcessCondition::notify_one", "/changed",
               [&] { one.condition.notify_one(); });
  check_throws(not_permitted, "InterProcessCondition::notify_all", "/changed",
               [&] { one.condition.notify_all(); });
  std::unique_lock<InterProcessMutex> lock{one.mutex, std::defer_lock};
  check_throws(not_permitted, "InterProcessCondition::wait", "/changed",
               [&] { one.condition.wait(lock); });
  std::unique_lock<InterProcessMutex> of_other{other};
  check_throws(Errc::invalid_argument, "InterProcessCondition::wait", "/changed",
               [&] { one.condition.wait(of_other); });
  std::unique_lock<InterProcessMutex> nothing;
  check_throws(Errc::invalid_argument, "InterProcessCondition::wait", "/changed",
               [&] { one.condition.wait(nothing); });
  lock.lock();
  one.condition.notify_one();
  one.condition.notify_all();
  {
    const Lease shared = one.mutex.current_lease();
    check_throws(not_permitted, "InterProcessCondition::wait", "/changed",
                 [&] { one.condition.wait(lock); });
  }
  // A thread that has locked it twice waits, and has it twice again.
  one.mutex.lock();
  CHECK(one.condition.wait_for(lock, 20ms) == std::cv_status::timeout);
  CHECK(one.mutex.hold_count() == 2);
  one.mutex.unlock();
  CHECK(one.mutex.hold_count() == 1);
}

TEST_CASE("calls: a thread whose wait fails unlocks as often as it has locked", "[condition]") {
  Fixture one;
  std::unique_lock<InterProcessMutex> lock{one.mutex};
  one.make("/changed");
  one.ensemble.refuse("/changed");
  check_throws(no_auth, "InterProcessCondition::wait", "/changed",
               [&] { one.condition.wait(lock); });
  check_throws(no_auth, "InterProcessCondition::notify_one", "/changed", [&] {
    InterProcessMutex second{one.client, "/second"};
    const InterProcessCondition changed{second, "/changed"};
    const std::lock_guard held{second};
    changed.notify_one();
  });
  CHECK(lock.owns_lock());
  const Lease none = one.mutex.current_lease();
  CHECK_FALSE(none);
  CHECK_NOTHROW(lock.unlock());
  one.ensemble.permit("/changed");
  lock.lock();
  CHECK(one.condition.wait_for(lock, 20ms) == std::cv_status::timeout);
}

TEST_CASE("calls: notifications of a thread wake as many as they say", "[condition]") {
  Fixture one;
  for (const bool all : {false, true}) {
    std::cv_status status = std::cv_status::timeout;
    {
      const std::jthread waiting{[&] {
        std::unique_lock<InterProcessMutex> lock{one.mutex};
        status = one.condition.wait_until(lock, Deadline{1h});
      }};
      CHECK(until([&] { return one.is_waited_for(); }));
      const std::lock_guard lock{one.mutex};
      if (all) {
        one.condition.notify_all();
      } else {
        one.condition.notify_one();
      }
    }
    CHECK(status == std::cv_status::no_timeout);
  }
}

TEST_CASE("calls: a thread that holds the read lock, too, does not wait", "[condition]") {
  BlockingClient one;
  InterProcessReadWriteLock both{one.client, "/lock"};
  const InterProcessCondition condition{both.write(), "/changed"};
  std::unique_lock<InterProcessLock> lock{both.write()};
  both.read().lock();
  check_throws(make_error_code(boost::system::errc::resource_deadlock_would_occur),
               "InterProcessCondition::wait", "/changed", [&] { condition.wait(lock); });
  both.read().unlock();
}

TEST_CASE("calls: a signal ends at its deadline though no thread runs the context", "[condition]") {
  UnrunClient mine;
  {
    InterProcessMutex mutex{*mine.client, "/lock"};
    const InterProcessCondition condition{mutex, "/changed"};
    const auto held = run<Lease>(mine.world, [&](auto done) { mutex.async_acquire(done); });
    check_throws(Errc::deadline_exceeded_outcome_unknown, "InterProcessCondition::signal",
                 "/changed", [&] { condition.signal(held.result(), {UnrunClient::brief}); });
    held.result().release();
  }
}

}  // namespace
}  // namespace custodian::tests::condition_calls_test
