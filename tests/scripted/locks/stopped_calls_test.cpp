// Blocking acquires whose stop was requested before they began.

#include <boost/asio/error.hpp>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/locks/with_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/blocking_calls.hpp"

namespace custodian::tests::stopped_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code aborted = boost::asio::error::operation_aborted;

/// Checks that the acquires without and with a limit throw, and send nothing.
template <typename Lock>
void check_that_nothing_is_acquired(BlockingClient& one, Lock& lock) {
  one.ensemble.clear_history();
  // An acquire that has begun ends on another thread: it may be quicker than its cancellation.
  for (int turn = 0; turn < 20; ++turn) {
    check_throws(aborted, "acquire", "/lock", [&] { return lock.acquire(one.stopped()); });
    check_throws(aborted, "try_acquire_until", "/lock",
                 [&] { return lock.try_acquire_for(1h, one.stopped()); });
  }
  CHECK(one.ensemble.history().empty());
}

void check_that_no_function_runs(BlockingClient& one, const LockOptions& options = {}) {
  one.ensemble.clear_history();
  for (int turn = 0; turn < 20; ++turn) {
    check_throws(aborted, "with_lock", "/lock", [&] {
      return with_lock(one.client, "/lock", {.lock = options, .stop = one.stopped()},
                       [] { FAIL_CHECK("the function runs"); });
    });
  }
  CHECK(one.ensemble.history().empty());
}

/// The same of a lock that its client has kept: `lock` is made with LockOptions::keep_idle_for.
template <typename Lock>
void check_that_what_is_kept_stays(BlockingClient& one, Lock& lock) {
  lock.acquire().release();
  REQUIRE(until([&] { return one.client.kept_locks() == 1; }));
  check_that_nothing_is_acquired(one, lock);
  CHECK(one.client.kept_locks() == 1);
  CHECK(lock.acquire().state() == LeaseState::held);
}

TEST_CASE("stopped: an acquire that is stopped before it begins acquires nothing that is free") {
  BlockingClient one;
  SECTION("a mutex, and a set of it") {
    InterProcessMutex mutex{one.client, "/lock"};
    check_that_nothing_is_acquired(one, mutex);
    InterProcessMultiLock all{{mutex}};
    check_that_nothing_is_acquired(one, all);
  }
  SECTION("a permit") {
    InterProcessSemaphoreMutex permit{one.client, "/lock"};
    check_that_nothing_is_acquired(one, permit);
  }
  SECTION("a semaphore") {
    InterProcessSemaphore semaphore{one.client, "/lock", 2};
    check_throws(aborted, "acquire", "/lock", [&] { return semaphore.acquire(1, one.stopped()); });
  }
  SECTION("stripes") {
    StripedMutex stripes{one.client, "/lock", 4};
    check_throws(aborted, "acquire_any", "/lock",
                 [&] { return stripes.acquire_any(one.stopped()); });
  }
  SECTION("a function under a mutex") { check_that_no_function_runs(one); }
}

TEST_CASE("stopped: an acquire that is stopped before it begins acquires nothing that is kept") {
  BlockingClient one;
  SECTION("a mutex") {
    InterProcessMutex mutex{one.client, "/lock", {.keep_idle_for = 1h}};
    check_that_what_is_kept_stays(one, mutex);
  }
  SECTION("a permit") {
    InterProcessSemaphoreMutex permit{one.client, "/lock", {.keep_idle_for = 1h}};
    check_that_what_is_kept_stays(one, permit);
  }
  SECTION("a lock of readers") {
    InterProcessReadWriteLock book{one.client, "/lock", {.keep_idle_for = 1h, .share_readers = 8}};
    check_that_what_is_kept_stays(one, book.read());
  }
  SECTION("a set of one mutex") {
    InterProcessMutex mutex{one.client, "/lock", {.keep_idle_for = 1h}};
    InterProcessMultiLock all{{mutex}};
    mutex.acquire().release();
    REQUIRE(until([&] { return one.client.kept_locks() == 1; }));
    check_that_nothing_is_acquired(one, all);
    CHECK(one.client.kept_locks() == 1);
  }
  SECTION("a function under a mutex") {
    const LockOptions kept{.keep_idle_for = 1h};
    static_cast<void>(with_lock(one.client, "/lock", {.lock = kept}, [] {}));
    REQUIRE(until([&] { return one.client.kept_locks() == 1; }));
    check_that_no_function_runs(one, kept);
    CHECK(one.client.kept_locks() == 1);
  }
}

}  // namespace
}  // namespace custodian::tests::stopped_calls_test
