#pragma once

/// \file
/// ObservedAcquire reports one acquire to the client's observer: its begin, and then its end, once.

#include <cstddef>

#include "custodian/authoring/observed_lock.hpp"
#include "custodian/locks/wait_limit.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// The report of one acquire. Any thread, one call at a time.
class ObservedAcquire {
 public:
  /// An acquire that is not reported.
  ObservedAcquire() = default;
  /// Reports that an acquire of this lock begins now. Does nothing if the client has no observer.
  explicit ObservedAcquire(const LockSpecPtr& spec);
  ObservedAcquire(ObservedAcquire&& other) noexcept { swap(other); }
  ObservedAcquire& operator=(ObservedAcquire&& other) noexcept {
    swap(other);
    return *this;
  }
  ObservedAcquire(const ObservedAcquire&) = delete;
  ObservedAcquire& operator=(const ObservedAcquire&) = delete;
  /// Calls drop().
  ~ObservedAcquire() { drop(); }

  /// Reports the end of the acquire, with `error` (or without one) and with `leases` leases.
  void end(const WaitLimit& wait_limit, const error_code& error, std::size_t leases);
  /// Reports the end of an acquire whose execution context is destroyed, as cancelled by the end of
  /// its client. Does nothing after the end.
  void drop();

 private:
  void swap(ObservedAcquire& other) noexcept;

  LockSpecPtr spec_;  ///< null if there is nothing to report, or the end was reported
  BootClock::time_point began_{};
};

}  // namespace custodian::recipes_detail
