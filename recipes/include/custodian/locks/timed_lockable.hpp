#pragma once

/// \file
/// TimedLockable is the standard face of every lock: the functions that std::scoped_lock and
/// std::unique_lock call, except unlock(). A lock derives from TimedLockable, which needs one
/// function.
///
/// When not to use it: to lock a lock: use the locks themselves. This class is for authors of
/// locks.

#include <chrono>
#include <string_view>

#include "custodian/deadline.hpp"
#include "custodian/locks/wait_limit.hpp"

namespace custodian {

/// The functions of the standard's TimedLockable that wait.
///
/// `Derived` provides, to this class as a friend: `bool lock_within(std::string_view operation,
/// const WaitLimit&)`, which waits, and throws an Error that names the operation. Limits and errors
/// are those of the lock's acquires: see TimedAcquire.
///
/// Threads: as `Derived`.
template <typename Derived>
class TimedLockable {
 public:
  /// As acquire(): waits without limit. Throws Error as acquire() does.
  void lock() { static_cast<void>(self().lock_within("lock", {})); }
  /// As try_acquire(): returns false also if there is no connection.
  [[nodiscard]] bool try_lock() { return self().lock_within("try_lock", {.try_once = true}); }
  /// As try_acquire_for().
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_until(Deadline{wait});
  }
  /// As try_acquire_until(), for any clock, which is read once, at the beginning.
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_until(Deadline{time - Clock::now()});
  }
  /// As try_acquire_until().
  [[nodiscard]] bool try_lock_until(Deadline deadline) {
    return self().lock_within("try_lock_until", {.deadline = deadline});
  }

 protected:
  /// For `Derived`.
  TimedLockable() = default;

 private:
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace custodian
