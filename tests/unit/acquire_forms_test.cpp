// Which calls compile: options need no stop token before them, and each timed acquire takes
// options, in its asynchronous form, too.

#include <boost/asio/use_future.hpp>
#include <chrono>
#include <stop_token>
#include <type_traits>

#include "custodian/recipes/group_lock.hpp"
#include "custodian/recipes/inter_process_lock.hpp"
#include "custodian/recipes/inter_process_multi_lock.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/inter_process_read_write_lock.hpp"
#include "custodian/recipes/inter_process_semaphore.hpp"
#include "custodian/recipes/inter_process_semaphore_mutex.hpp"
#include "custodian/recipes/quorum_lock.hpp"
#include "custodian/recipes/striped_mutex.hpp"
#include "support/catch.hpp"

namespace custodian {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

template <typename Lock>
concept TakesOptionsInAllForms = requires(Lock& lock, AcquireOptions options, std::stop_token stop,
                                          Deadline deadline) {
  lock.acquire();
  lock.acquire(stop);
  lock.acquire(options);
  lock.acquire(options, stop);
  lock.acquire({.lease = {.hold_at_most = 1s}});
  lock.try_acquire({.lease = {.hold_at_most = 1s}});
  lock.try_acquire_for(1s, stop);
  lock.try_acquire_for(1s, options, stop);
  lock.try_acquire_for(1s, {.requeue = RequeuePolicy::fail});
  lock.try_acquire_until(deadline, stop);
  lock.try_acquire_until(deadline, options, stop);
  lock.try_acquire_until(deadline, {.requeue = RequeuePolicy::fail});
  lock.async_try_acquire_for(1s, asio::use_future);
  lock.async_try_acquire_for(1s, options, asio::use_future);
  lock.async_try_acquire_for(1s, {.requeue = RequeuePolicy::fail}, asio::use_future);
};

TEST_CASE("every lock takes its options before the stop token, or alone", "[acquire]") {
  STATIC_REQUIRE(TakesOptionsInAllForms<InterProcessLock>);
  STATIC_REQUIRE(TakesOptionsInAllForms<GroupLock>);
  STATIC_REQUIRE(TakesOptionsInAllForms<InterProcessSemaphoreMutex>);
}

TEST_CASE("so does an acquire of any stripe", "[acquire]") {
  STATIC_REQUIRE(requires(StripedMutex & stripes, AcquireOptions options, std::stop_token stop,
                          Deadline deadline) {
    stripes.acquire_any();
    stripes.acquire_any(stop);
    stripes.acquire_any({.lease = {.hold_at_most = 1s}});
    stripes.try_acquire_any_for(1s, stop);
    stripes.try_acquire_any_for(1s, options, stop);
    stripes.try_acquire_any_until(deadline, {.requeue = RequeuePolicy::fail});
    stripes.async_try_acquire_any_for(1s, options, asio::use_future);
  });
}

TEST_CASE("so does a semaphore, for one permit and for several", "[acquire]") {
  STATIC_REQUIRE(requires(InterProcessSemaphore & semaphore, AcquireOptions options,
                          std::stop_token stop, Deadline deadline) {
    semaphore.acquire();
    semaphore.acquire(stop);
    semaphore.acquire({.lease = {.hold_at_most = 1s}});
    semaphore.acquire(2, stop);
    semaphore.acquire(2, options, stop);
    semaphore.try_acquire(options);
    semaphore.try_acquire(2, options);
    semaphore.try_acquire_for(1s, stop);
    semaphore.try_acquire_for(1s, {.requeue = RequeuePolicy::fail});
    semaphore.try_acquire_for(2, 1s, options, stop);
    semaphore.try_acquire_until(deadline, options, stop);
    semaphore.try_acquire_until(2, deadline, {.requeue = RequeuePolicy::fail});
    semaphore.async_try_acquire_for(2, 1s, options, asio::use_future);
  });
}

template <typename Lock>
constexpr bool moves =
    std::is_nothrow_move_constructible_v<Lock>&& std::is_nothrow_move_assignable_v<Lock> &&
    !std::is_copy_constructible_v<Lock>;

TEST_CASE("every lock moves, so that it may be kept in a std::vector", "[acquire]") {
  STATIC_REQUIRE(moves<InterProcessMutex>);
  STATIC_REQUIRE(moves<InterProcessReadWriteLock>);
  STATIC_REQUIRE(moves<InterProcessSemaphoreMutex>);
  STATIC_REQUIRE(moves<InterProcessMultiLock>);
  STATIC_REQUIRE(moves<QuorumLock>);
  STATIC_REQUIRE(moves<StripedMutex>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<InterProcessSemaphore>);
}

}  // namespace
}  // namespace custodian
