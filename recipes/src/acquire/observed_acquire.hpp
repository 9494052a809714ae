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
  /// An acquire that the observer does not hear of.
  ObservedAcquire() = default;
  /// Reports the begin of an acquire of this lock, now. Without an observer it does nothing.
  explicit ObservedAcquire(const LockSpecPtr& spec);
  ObservedAcquire(ObservedAcquire&& other) noexcept { swap(other); }
  ObservedAcquire& operator=(ObservedAcquire&& other) noexcept {
    swap(other);
    return *this;
  }
  ObservedAcquire(const ObservedAcquire&) = delete;
  ObservedAcquire& operator=(const ObservedAcquire&) = delete;
  /// Drops an acquire that has not ended.
  ~ObservedAcquire() { drop(); }

  /// Reports the end of the acquire, with this error, or none, and this many leases.
  void end(const WaitLimit& wait_limit, const error_code& error, std::size_t leases);
  /// Reports the end of an acquire whose execution context is destroyed, as cancelled by the end of
  /// its client. Does nothing after the end.
  void drop();

 private:
  void swap(ObservedAcquire& other) noexcept;

  LockSpecPtr spec_;  ///< null if there is nothing to report, or nothing any more
  BootClock::time_point began_{};
};

}  // namespace custodian::recipes_detail
