// Blocking calls whose stop was requested before they began.

#include <boost/asio/error.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/blocking_calls.hpp"

namespace custodian::tests::stopped_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code aborted = boost::asio::error::operation_aborted;

/// Calls each blocking form that takes a stop token, with one whose stop was requested.
template <typename Lock>
void check_that_nothing_is_acquired(BlockingClient& one, Lock& lock) {
  one.ensemble.clear_history();
  for (int turn = 0; turn < 20; ++turn) {
    check_throws(aborted, "acquire", "/lock", [&] { return lock.acquire(one.stopped()); });
    check_throws(aborted, "try_acquire_until", "/lock",
                 [&] { return lock.try_acquire_for(1h, one.stopped()); });
  }
  CHECK(one.ensemble.history().empty());
}

template <typename Lock>
void check_that_what_is_kept_stays() {
  BlockingClient one;
  Lock lock{one.client, "/lock", {.keep_idle_for = 1h}};
  lock.acquire().release();
  REQUIRE(until([&] { return one.client.kept_locks() == 1; }));
  check_that_nothing_is_acquired(one, lock);
  CHECK(one.client.kept_locks() == 1);
  CHECK(lock.acquire().state() == LeaseState::held);
}

TEST_CASE("stopped: a call that is stopped before it begins acquires nothing that is free") {
  BlockingClient one;
  InterProcessMutex mutex{one.client, "/lock"};
  InterProcessSemaphoreMutex permit{one.client, "/lock"};
  check_that_nothing_is_acquired(one, mutex);
  check_that_nothing_is_acquired(one, permit);
}

TEST_CASE("stopped: a call that is stopped before it begins acquires nothing that is kept") {
  check_that_what_is_kept_stays<InterProcessMutex>();
  check_that_what_is_kept_stays<InterProcessSemaphoreMutex>();
}

}  // namespace
}  // namespace custodian::tests::stopped_calls_test
