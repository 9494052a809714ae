#pragma once

/// \file
/// How a recipe's lock shows itself to the client's observer: for authors of recipes.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/clock.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/observer.hpp"

namespace custodian {

/// The recipe and the path under which an observer hears of a lock.
struct ObservedLock {
  /// The recipe's name, as `InterProcessMutex`.
  std::string recipe;
  /// The path that the lock's user has given.
  std::string path;
};

/// For the acquires and leases (see start_lease) of a lock of this client; null if that has no
/// observer.
[[nodiscard]] CUSTODIAN_EXPORT ObservedLockPtr make_observed(const CorePtr& core,
                                                             std::string_view recipe,
                                                             std::string_view path);

/// The time by the clock that a client measures its waits and leases with.
[[nodiscard]] CUSTODIAN_EXPORT BootClock::time_point now_of(const CorePtr& core) noexcept;

/// Tells the observer of an acquire that has waited since then; the lock is not null. Any thread.
CUSTODIAN_EXPORT void tell_acquire_ended(const CorePtr& core, const ObservedLockPtr& lock,
                                         AcquireOutcome outcome, error_code error,
                                         BootClock::time_point since, std::size_t leases);

}  // namespace custodian
