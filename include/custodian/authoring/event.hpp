#pragma once

/// \file
/// AsyncEvent is a condition variable for coroutines on a client's strand, for authors of recipes.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <set>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// Wakes the coroutines that wait for a change. An event has no state of its own: a wait that
/// begins after a notify_all() waits for the next one, so check your condition before each wait.
/// Used on the strand only; not movable.
class CUSTODIAN_EXPORT AsyncEvent {
 public:
  AsyncEvent() = default;
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;
  /// Every wait must have ended before, or its coroutine must never run again: a context that is
  /// destroyed may destroy the event before such a coroutine, or after it.
  ~AsyncEvent();

  /// Waits until the next notify_all(), the deadline, or the cancellation. The reason is not
  /// reported: check your condition again. The event must outlive the wait. `strand` is the
  /// client's strand: Client::get_executor().
  boost::asio::awaitable<void> wait(boost::asio::any_io_executor strand, Deadline until,
                                    CancellationPtr cancellation);

  /// Ends every wait that has begun.
  void notify_all();

 private:
  struct Waiter;
  std::set<Waiter*> waiting_;
};

}  // namespace custodian
