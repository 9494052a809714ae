#include "custodian/authoring/event.hpp"

namespace custodian {

namespace asio = boost::asio;

asio::awaitable<void> AsyncEvent::wait(asio::any_io_executor strand, Deadline until,
                                       CancellationPtr cancellation) {
  asio::steady_timer timer{strand, until.time_point()};
  waiting_.insert(&timer);
  if (cancellation) cancellation->on_request(&timer, [&timer] { timer.cancel(); });
  const bool over = cancellation && cancellation->requested();
  if (!over) co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (cancellation) cancellation->forget(&timer);
  waiting_.erase(&timer);
}

void AsyncEvent::notify_all() {
  for (asio::steady_timer* timer : waiting_) timer->cancel();
}

}  // namespace custodian
