#pragma once

/// \file
/// The watch for deadlocks of one acquire: what it asks while it waits
/// (`AcquireOptions::detect_deadlock`), and its end if it waits in a circle. What a circle is, and
/// how it is found, an acquire does not know: see inspect/detect_deadlock.cpp.

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
  /// Looks now and then, until the acquire is found to wait in a circle, and returns that circle as
  /// a sentence; or until `over` is requested, and returns an empty text. A look that fails is
  /// followed by the next one. Called on the strand; the acquire keeps the detector alive.
  [[nodiscard]] virtual boost::asio::awaitable<std::string> find(AcquirePtr acquire,
                                                                 CancellationPtr over) const = 0;
};

/// Whether the options of the acquire ask for no detection, or for one that covers its queue. Any
/// thread.
[[nodiscard]] bool may_watch_for_deadlock(const Acquire& acquire);
/// Gives the acquire up if it is found to wait in a circle. Ends when `over` is requested.
[[nodiscard]] boost::asio::awaitable<void> watch_for_deadlock(AcquirePtr acquire,
                                                              CancellationPtr over);

}  // namespace custodian::recipes_detail
