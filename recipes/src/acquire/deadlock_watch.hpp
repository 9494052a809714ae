#pragma once

/// \file
/// The watch for deadlocks of one acquire: it runs the caller's detector
/// (`AcquireOptions::detect_deadlock`) while the acquire waits, and gives the acquire up if it
/// waits in a circle. What a circle is, and how it is found, is up to the detector: see
/// inspect/detect_deadlock.cpp.

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Immutable: acquires of several clients may share it.
class DeadlockDetector {
 public:
  DeadlockDetector() = default;
  DeadlockDetector(const DeadlockDetector&) = delete;
  DeadlockDetector& operator=(const DeadlockDetector&) = delete;
  virtual ~DeadlockDetector() = default;

  /// Whether waits for a queue at this path can be judged. Any thread.
  [[nodiscard]] virtual bool covers(std::string_view path) const = 0;
  /// Looks now and then. Returns the circle, as a sentence, once the acquire is found to wait in
  /// one; or an empty text, once `over` is requested. A look that fails is followed by the next
  /// one. Called on the strand; the acquire keeps the detector alive.
  [[nodiscard]] virtual boost::asio::awaitable<std::string> find(AcquirePtr acquire,
                                                                 CancellationPtr over) const = 0;
};

/// Whether the acquire's options ask for no detection of deadlocks, or for a detector that covers
/// its queue. Any thread.
[[nodiscard]] bool may_watch_for_deadlock(const Acquire& acquire);
/// Gives the acquire up if it is found to wait in a circle. Ends when `over` is requested.
[[nodiscard]] boost::asio::awaitable<void> watch_for_deadlock(AcquirePtr acquire,
                                                              CancellationPtr over);

}  // namespace custodian::recipes_detail
