#pragma once

/// \file
/// ContendedLock is a lock of a chaos run, of any kind, with the ways to acquire it that the kinds
/// share.
///
/// Threads: any.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <variant>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "election.hpp"
#include "lock_kind.hpp"

namespace custodian::chaos {

class ContendedLock {
 public:
  /// Throws std::invalid_argument if `name` names no kind (kind_of()).
  ContendedLock(const Client& client, const std::string& root, const std::string& name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns whether the lock is passed on among the waiters of this process.
  [[nodiscard]] bool is_passed_on() const noexcept { return passes_of(kind_) > 0; }
  [[nodiscard]] Use any_use(std::mt19937_64& random) const;
  [[nodiscard]] std::string_view share_of(Use use) const { return chaos::share_of(kind_, use); }

  [[nodiscard]] Lease acquire(Use use);
  [[nodiscard]] Lease try_acquire(Use use);
  [[nodiscard]] Lease try_acquire_for(Use use, std::chrono::milliseconds wait);
  /// Acquires by the standard interface (lock()), if the kind has one. The same thread must destroy
  /// the result.
  [[nodiscard]] std::pair<Lease, std::shared_ptr<void>> lock(Use use);
  [[nodiscard]] boost::asio::awaitable<std::tuple<error_code, Lease>> async_acquire(
      Use use, std::shared_ptr<boost::asio::cancellation_signal> cancellation);

 private:
  using Any = std::variant<InterProcessLock*, InterProcessSemaphoreMutex*, InterProcessSemaphore*,
                           Election*>;
  [[nodiscard]] Any as(Use use);

  std::string name_;
  LockKind kind_;
  std::unique_ptr<InterProcessMutex> mutex_;
  std::unique_ptr<InterProcessReadWriteLock> read_write_;
  std::unique_ptr<InterProcessSemaphoreMutex> semaphore_mutex_;
  std::unique_ptr<InterProcessSemaphore> semaphore_;
  std::unique_ptr<Election> election_;
};

}  // namespace custodian::chaos
