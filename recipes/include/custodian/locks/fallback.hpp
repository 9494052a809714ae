#pragma once

/// \file
/// Fallback is a lock that with_lock() uses when ZooKeeper is away.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/error.hpp"

namespace custodian {

/// A lock with the functions of the standard's BasicLockable. unlock() should not throw, since it
/// runs in destructors.
template <typename Lock>
concept FallbackLock = requires(Lock& lock) {
  lock.lock();
  lock.unlock();
};

/// A fallback is any lock with the standard's functions: a `std::mutex`, a database's lock, a file
/// lock. If the fallback has a try_lock_for(), a call of with_lock() waits for it as long as for
/// ZooKeeper's lock; otherwise until it is free. The thread that runs the function locks and
/// unlocks the fallback. A loss of the fallback, for instance when its connection to a database
/// breaks, is not noticed: the function goes on, and others may hold the lock.
///
/// For nested calls on different paths use by_path(): with one lock for all paths, the inner call
/// would lock it a second time and wait for the outer call, for ever if the lock has no
/// try_lock_for().
///
/// Threads: a value type; several calls may use one object at once if the lock allows it.
class Fallback {
 public:
  /// Stands for no fallback.
  Fallback() = default;
  /// Uses one lock for all paths. The lock is not owned, so it must outlive the calls.
  template <FallbackLock Lock>
  requires(!std::same_as<Lock, const Lock>) Fallback(Lock& lock)
      : Fallback{std::shared_ptr<Lock>{std::shared_ptr<void>{}, &lock}} {}
  /// Uses one lock for all paths. Throws Error (invalid_argument) if the pointer is null.
  template <FallbackLock Lock>
  Fallback(std::shared_ptr<Lock> lock)
      : hold_{
            [lock = given(std::move(lock), {})](const std::string&, std::chrono::nanoseconds wait) {
              return lock_within(lock, wait);
            }} {}
  /// Uses a lock for each path: `make(path)` returns it, as a `std::shared_ptr`. If that pointer is
  /// null, the call throws Error (invalid_argument).
  template <std::invocable<const std::string&> Make>
  [[nodiscard]] static Fallback by_path(Make make) {
    Fallback fallback;
    fallback.hold_ = [make = std::move(make)](const std::string& path,
                                              std::chrono::nanoseconds wait) {
      return lock_within(given(make(path), path), wait);
    };
    return fallback;
  }

  /// Whether there is a fallback.
  [[nodiscard]] explicit operator bool() const noexcept { return hold_ != nullptr; }

  /// Acquires the lock of this path, in this thread; destroying the returned object releases it.
  /// Returns null if the lock is not acquired in time. Throws what the lock throws.
  [[nodiscard]] std::shared_ptr<void> hold(const std::string& path,
                                           std::chrono::nanoseconds wait) const {
    return hold_(path, wait);
  }

 private:
  template <typename Lock>
  static std::shared_ptr<Lock> given(std::shared_ptr<Lock> lock, std::string_view path) {
    if (!lock) throw Error{Errc::invalid_argument, "Fallback", path, "the lock is null"};
    return lock;
  }
  template <typename Lock>
  static std::shared_ptr<void> lock_within(std::shared_ptr<Lock> lock,
                                           std::chrono::nanoseconds wait) {
    if constexpr (requires { static_cast<bool>(lock->try_lock_for(wait)); }) {
      if (!lock->try_lock_for(wait)) return nullptr;
    } else {
      lock->lock();
    }
    Lock* const held = lock.get();
    return {held, [lock = std::move(lock)](Lock* mine) { mine->unlock(); }};
  }

  std::function<std::shared_ptr<void>(const std::string& path, std::chrono::nanoseconds wait)>
      hold_;
};

/// A fallback for coroutines: a function that acquires a lock and must not block. It takes the path
/// and how long to wait. It returns an object whose destruction, on any thread, releases the lock;
/// null if the lock is not acquired in time.
using AsyncFallback = std::function<boost::asio::awaitable<std::shared_ptr<void>>(
    std::string path, std::chrono::nanoseconds wait)>;

}  // namespace custodian
