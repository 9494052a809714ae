// Calls that must compile: options without a stop token; options for each timed acquire, the
// asynchronous one included; the standard guards that take each lock; and the functions of a const
// client.

#include <boost/asio/use_future.hpp>
#include <chrono>
#include <concepts>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <type_traits>

#include "custodian/client.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/lock_sets/lock_set_base.hpp"
#include "custodian/lock_sets/quorum_lock.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "support/catch.hpp"

namespace custodian::acquire_forms_test {
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
  STATIC_REQUIRE(TakesOptionsInAllForms<LockSetBase>);
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

template <typename Lock>
concept SaysWhetherItIsHeld = requires(const Lock& lock) {
  { lock.owns_lock() } -> std::same_as<bool>;
};

TEST_CASE("every lock with a standard face says whether it is held, by one name", "[acquire]") {
  STATIC_REQUIRE(SaysWhetherItIsHeld<InterProcessMutex>);
  STATIC_REQUIRE(SaysWhetherItIsHeld<InterProcessReadWriteLock::ReadLock>);
  STATIC_REQUIRE(SaysWhetherItIsHeld<InterProcessReadWriteLock::WriteLock>);
  STATIC_REQUIRE(SaysWhetherItIsHeld<InterProcessSemaphoreMutex>);
  STATIC_REQUIRE(SaysWhetherItIsHeld<InterProcessMultiLock>);
  STATIC_REQUIRE(SaysWhetherItIsHeld<QuorumLock>);
}

template <typename Guard, typename Lock>
concept Guards = requires(Lock& lock) {
  Guard{lock};
  Guard{lock, std::defer_lock}.try_lock_for(1s);
};

TEST_CASE("the guards of the standard take the locks that they are for", "[acquire]") {
  using Both = InterProcessReadWriteLock;
  STATIC_REQUIRE(Guards<std::unique_lock<InterProcessMutex>, InterProcessMutex>);
  STATIC_REQUIRE(Guards<std::unique_lock<Both::WriteLock>, Both::WriteLock>);
  STATIC_REQUIRE(Guards<std::shared_lock<Both::ReadLock>, Both::ReadLock>);
  STATIC_REQUIRE(Guards<std::shared_lock<Both>, Both>);
  STATIC_REQUIRE(Guards<std::unique_lock<Both>, Both>);
  STATIC_REQUIRE(Guards<std::unique_lock<InterProcessSemaphoreMutex>, InterProcessSemaphoreMutex>);
  STATIC_REQUIRE(Guards<std::unique_lock<InterProcessMultiLock>, InterProcessMultiLock>);
}

template <typename AnyClient>
concept MayLook = requires(AnyClient& client, std::string path) {
  client.exists(path);
  client.get(path);
  client.get(path, {2s});
  client.children(path);
  client.wait_connected();
  client.wait_connected({5s});
  client.wait_connected({.deadline = 5s});
  client.async_exists(path, {}, asio::use_future);
  client.on_connection_state([](ConnectionState) {});
};

template <typename AnyClient>
concept MayWrite = requires(AnyClient& client, std::string path) {
  client.create(path);
};

TEST_CASE("a client that is const may look and wait, and may not write", "[client]") {
  STATIC_REQUIRE(MayLook<const Client>);
  STATIC_REQUIRE(MayLook<Client>);
  STATIC_REQUIRE(MayWrite<Client>);
  STATIC_REQUIRE_FALSE(MayWrite<const Client>);
}

}  // namespace
}  // namespace custodian::acquire_forms_test
