#pragma once

/// \file
/// AsyncEvent is a condition variable for coroutines. For the strand only.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <set>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"

namespace custodian::recipes_detail {

/// Must outlive its waiters.
class AsyncEvent {
 public:
  /// Ends with the next notify_all(), at the deadline, or when it is cancelled: check the condition
  /// again.
  boost::asio::awaitable<void> wait(boost::asio::any_io_executor strand, Deadline until,
                                    CancellationPtr cancellation) {
    boost::asio::steady_timer timer{strand, until.time_point()};
    waiting_.insert(&timer);
    if (cancellation) cancellation->on_request(&timer, [&timer] { timer.cancel(); });
    const bool over = cancellation && cancellation->requested();
    if (!over) co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (cancellation) cancellation->forget(&timer);
    waiting_.erase(&timer);
  }

  void notify_all() {
    for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
  }

 private:
  std::set<boost::asio::steady_timer*> waiting_;
};

}  // namespace custodian::recipes_detail
