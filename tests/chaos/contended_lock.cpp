#include "contended_lock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace custodian::chaos {

namespace asio = boost::asio;

namespace {

// Acquires return a lease with some kinds of locks, and a result with others.
Lease lease_of(Lease lease) { return lease; }
Lease lease_of(AcquireResult result) { return std::move(result.lease); }

/// How many readers may share a node.
constexpr int shared_readers = 8;

LockKind known_kind_of(const std::string& name) {
  const auto kind = kind_of(name);
  if (!kind) throw std::invalid_argument{"no kind of lock is called " + name};
  return *kind;
}

}  // namespace

ContendedLock::ContendedLock(const Client& client, const std::string& root, const std::string& name)
    : name_{name}, kind_{known_kind_of(name)} {
  const std::string path = root + "/" + name;
  switch (kind_) {
    case LockKind::mutex: mutex_ = std::make_unique<InterProcessMutex>(client, path); break;
    case LockKind::mutex_batch: {
      LockOptions options;
      options.hand_off = HandOff::cohort(passes_of(kind_));
      mutex_ = std::make_unique<InterProcessMutex>(client, path, std::move(options));
      break;
    }
    case LockKind::mutex_kept: {
      LockOptions options;
      // All workers want the lock all the time, so a process rarely gets to keep it. The cohort
      // makes the lock pass on within a process, too.
      options.hand_off = HandOff::cohort(passes_of(LockKind::mutex_batch));
      options.keep_idle_for = std::chrono::minutes{1};
      mutex_ = std::make_unique<InterProcessMutex>(client, path, std::move(options));
      break;
    }
    case LockKind::read_write:
      read_write_ = std::make_unique<InterProcessReadWriteLock>(client, path);
      break;
    case LockKind::read_write_shared: {
      LockOptions options;
      options.share_readers = shared_readers;
      options.keep_idle_for = std::chrono::minutes{1};
      read_write_ = std::make_unique<InterProcessReadWriteLock>(client, path, std::move(options));
      break;
    }
    case LockKind::semaphore_mutex:
      semaphore_mutex_ = std::make_unique<InterProcessSemaphoreMutex>(client, path);
      break;
    case LockKind::semaphore:
      semaphore_ = std::make_unique<InterProcessSemaphore>(client, path, permits);
      break;
    case LockKind::leader_latch:
      election_ = std::make_unique<Election>(client, path, Election::Recipe::latch);
      break;
    case LockKind::leader_selector:
      election_ = std::make_unique<Election>(client, path, Election::Recipe::selector);
      break;
  }
}

Use ContendedLock::any_use(std::mt19937_64& random) const {
  if (kind_ == LockKind::semaphore) return Use::permit;
  return has_readers(kind_) && random() % 2 == 0 ? Use::shared : Use::exclusive;
}

ContendedLock::Any ContendedLock::as(Use use) {
  switch (kind_) {
    case LockKind::read_write:
    case LockKind::read_write_shared:
      if (use == Use::shared) return &read_write_->read();
      return &read_write_->write();
    case LockKind::semaphore_mutex: return semaphore_mutex_.get();
    case LockKind::semaphore: return semaphore_.get();
    case LockKind::leader_latch:
    case LockKind::leader_selector: return election_.get();
    case LockKind::mutex:
    case LockKind::mutex_batch:
    case LockKind::mutex_kept: break;
  }
  return mutex_.get();
}

Lease ContendedLock::acquire(Use use) {
  return std::visit([](auto* lock) { return lock->acquire(); }, as(use));
}

Lease ContendedLock::try_acquire(Use use) {
  return std::visit([](auto* lock) { return lease_of(lock->try_acquire()); }, as(use));
}

Lease ContendedLock::try_acquire_for(Use use, std::chrono::milliseconds wait) {
  return std::visit([wait](auto* lock) { return lease_of(lock->try_acquire_for(wait)); }, as(use));
}

std::pair<Lease, std::shared_ptr<void>> ContendedLock::lock(Use use) {
  return std::visit(
      [](auto* lock) -> std::pair<Lease, std::shared_ptr<void>> {
        using Lock = std::remove_pointer_t<decltype(lock)>;
        if constexpr (!std::is_same_v<Lock, InterProcessLock>) {
          // These kinds have no lease of the thread: current_lease() might return another thread's
          // lease.
          return {lock->acquire(), nullptr};
        } else {
          auto guard = std::make_shared<std::unique_lock<Lock>>(*lock);
          return {lock->current_lease(), std::move(guard)};
        }
      },
      as(use));
}

asio::awaitable<std::tuple<error_code, Lease>> ContendedLock::async_acquire(
    Use use, std::shared_ptr<asio::cancellation_signal> cancellation) {
  auto as_result =
      asio::bind_cancellation_slot(cancellation->slot(), asio::as_tuple(asio::use_awaitable));
  const Any lock = as(use);
  if (auto* const* election = std::get_if<Election*>(&lock)) {
    auto [error, lease] = co_await (*election)->async_acquire(std::move(cancellation));
    co_return std::tuple{error, std::move(lease)};
  }
  if (auto* const* semaphore = std::get_if<InterProcessSemaphore*>(&lock)) {
    auto [error, leases] = co_await (*semaphore)->async_acquire(1, std::move(as_result));
    co_return std::tuple{error, leases.empty() ? Lease{} : std::move(leases.front())};
  }
  if (auto* const* mutex = std::get_if<InterProcessSemaphoreMutex*>(&lock)) {
    auto [error, lease] = co_await (*mutex)->async_acquire(std::move(as_result));
    co_return std::tuple{error, std::move(lease)};
  }
  auto [error, lease] =
      co_await std::get<InterProcessLock*>(lock)->async_acquire(std::move(as_result));
  co_return std::tuple{error, std::move(lease)};
}

}  // namespace custodian::chaos
