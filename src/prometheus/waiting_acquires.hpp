#pragma once

/// \file
/// WaitingAcquires is the acquires that have begun and not ended. Pure.

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>

#include "custodian/clock.hpp"

namespace custodian::prometheus_detail {

class WaitingAcquires {
 public:
  using WallTime = std::chrono::system_clock::time_point;

  /// An acquire has begun at `began`, by its client's clock, and at `now`, by the wall clock.
  void begin(BootClock::time_point began, WallTime now);
  /// An acquire that began at `began` has ended. Returns whether there was one: an author of a
  /// recipe may report ends alone.
  bool end(BootClock::time_point began);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// When the oldest of them began; empty if there is none.
  [[nodiscard]] std::optional<WallTime> oldest() const;

 private:
  std::multimap<BootClock::time_point, WallTime> all_;
};

}  // namespace custodian::prometheus_detail
