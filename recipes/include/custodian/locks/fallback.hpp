#pragma once

/// \file
/// Fallback is a lock to fall back on when ZooKeeper is away: see with_lock().

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

/// What the standard calls BasicLockable. unlock() should not throw: it runs in destructors.
template <typename Lock>
concept FallbackLock = requires(Lock& lock) {
  lock.lock();
  lock.unlock();
};

/// Any lock of the standard's shape: a `std::mutex`, one of a database, one of a file. With a
/// try_lock_for() it is waited for as long as for ZooKeeper's lock; without, until it is free. It
/// is locked and unlocked by the thread that runs the function. Its loss, for instance when its
/// connection to a database dies, is not noticed: the function goes on, and others may hold the
/// lock.
///
/// When calls nest, on different paths, use by_path(): the inner call would lock one lock for all
/// paths a second time, and wait for itself, for ever if there is no try_lock_for().
///
/// Threads: a value; one may be used by several calls at once if the lock may.
class Fallback {
 public:
  /// None.
  Fallback() = default;
  /// One for all paths; not owned, so it must outlive the calls.
  template <FallbackLock Lock>
  requires(!std::same_as<Lock, const Lock>) Fallback(Lock& lock)
      : Fallback{std::shared_ptr<Lock>{std::shared_ptr<void>{}, &lock}} {}
  /// One for all paths. Throws Error (invalid_argument) if it is null.
  template <FallbackLock Lock>
  Fallback(std::shared_ptr<Lock> lock)
      : hold_{
            [lock = given(std::move(lock), {})](const std::string&, std::chrono::nanoseconds wait) {
              return lock_within(lock, wait);
            }} {}
  /// A lock of its own for each path: `make(path)` gives it, as a `std::shared_ptr`. If that is
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

  /// Whether there is one.
  [[nodiscard]] explicit operator bool() const noexcept { return hold_ != nullptr; }

  /// Locks it, in this thread: it is unlocked when what is given here is destroyed. Null if it is
  /// not acquired in time. Throws what the lock throws.
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

/// The same for coroutines, which must not block. Awaited with the path and how long to wait: gives
/// an object whose destruction, on any thread, releases the lock; null if it is not acquired in
/// time.
using AsyncFallback = std::function<boost::asio::awaitable<std::shared_ptr<void>>(
    std::string path, std::chrono::nanoseconds wait)>;

}  // namespace custodian
