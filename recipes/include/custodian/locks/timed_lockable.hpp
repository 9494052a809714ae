#pragma once

/// \file
/// TimedLockable is the standard face of every lock: the functions that std::scoped_lock and
/// std::unique_lock call, except unlock(). A lock derives from TimedLockable, and gives it one
/// function that waits.
///
/// When not to use it: as the user of a lock. This class is for authors of locks.

#include <chrono>
#include <string_view>

#include "custodian/deadline.hpp"
#include "custodian/locks/wait_limit.hpp"

namespace custodian {

/// The functions of the standard's TimedLockable that lock.
///
/// `Derived` provides, to this class as a friend: `bool lock_within(std::string_view operation,
/// const WaitLimit&)`, which waits, and throws an Error that names the operation. Limits and errors
/// are those of the lock's acquires: see TimedAcquire.
///
/// Threads: those of `Derived`.
template <typename Derived>
class TimedLockable {
 public:
  /// Locks; waits without limit. Throws Error as acquire() does.
  void lock() { static_cast<void>(self().lock_within("lock", {})); }
  /// Locks if the lock is free, as try_acquire() does. Returns false also if there is no
  /// connection.
  [[nodiscard]] bool try_lock() { return self().lock_within("try_lock", {.try_once = true}); }
  /// Locks, and waits for this long at most, as try_acquire_for() does. Returns whether it locked.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_until(Deadline{wait});
  }
  /// Locks, and waits until this time at most, as try_acquire_until() does. Returns whether it
  /// locked. `Clock` may be any clock; it is read once, at the beginning.
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_until(Deadline{time - Clock::now()});
  }
  /// Locks, and waits until the deadline at most, as try_acquire_until() does. Returns whether it
  /// locked.
  [[nodiscard]] bool try_lock_until(Deadline deadline) {
    return self().lock_within("try_lock_until", {.deadline = deadline});
  }

 protected:
  /// Called by `Derived`.
  TimedLockable() = default;

 private:
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace custodian
