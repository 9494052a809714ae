#pragma once

/// \file
/// These functions report a recipe's lock, wait or update to the client's observer, for authors of
/// recipes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/clock.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/observer.hpp"

namespace custodian {

/// The recipe and the path under which events of a lock, a wait or an update are reported.
struct ObservedLock {
  /// The recipe's name, such as `InterProcessMutex`.
  std::string recipe;
  /// The path that the lock was made with.
  std::string path;
};

/// Makes the name of a lock in the events of its acquires and leases (see detail::start_lease()).
/// Null if the client has no observer.
[[nodiscard]] CUSTODIAN_EXPORT ObservedLockPtr make_observed(const CorePtr& core,
                                                             std::string_view recipe,
                                                             std::string_view path);

/// The time of the clock by which a client measures waits and leases.
[[nodiscard]] CUSTODIAN_EXPORT BootClock::time_point now_of(const CorePtr& core) noexcept;

/// Reports to the observer that an acquire has begun, at `since`. `lock` must not be null. Any
/// thread. One call of tell_acquire_ended() follows it, with the same lock and time.
CUSTODIAN_EXPORT void tell_acquire_begun(const CorePtr& core, const ObservedLockPtr& lock,
                                         BootClock::time_point since);
/// Reports to the observer that an acquire, which began at `since`, has ended. `lock` must not be
/// null. Any thread.
CUSTODIAN_EXPORT void tell_acquire_ended(const CorePtr& core, const ObservedLockPtr& lock,
                                         AcquireOutcome outcome, error_code error,
                                         BootClock::time_point since, std::size_t leases);
/// Reports that a kept lock was taken again, `times` times since the last report. Any thread.
CUSTODIAN_EXPORT void tell_lock_reused(const CorePtr& core, const ObservedLockPtr& lock,
                                       FencingToken token, std::uint64_t times);
/// Reports that a kept lock was given back. Any thread.
CUSTODIAN_EXPORT void tell_kept_lock_ended(const CorePtr& core, const ObservedLockPtr& lock,
                                           FencingToken token, KeptLockEnd reason);

/// Reports that a wait for other processes, which began at `since`, has ended. `wait` must not be
/// null. Any thread.
CUSTODIAN_EXPORT void tell_wait_ended(const CorePtr& core, const ObservedLockPtr& wait,
                                      WaitOutcome outcome, error_code error,
                                      BootClock::time_point since);

/// The facts that are reported of an update: see UpdateEnded.
struct UpdateFacts {
  error_code error{};     ///< the reason, if the update has failed
  bool written = false;   ///< whether the update has written
  int tries = 0;          ///< how often the update was tried; 0 if it has failed
  bool promoted = false;  ///< whether the update has waited for its lock
};
/// Reports that an update, which began at `since`, has ended. `value` must not be null. Any thread.
CUSTODIAN_EXPORT void tell_update_ended(const CorePtr& core, const ObservedLockPtr& value,
                                        UpdateFacts facts, BootClock::time_point since);

}  // namespace custodian
