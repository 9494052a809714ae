#include "custodian/authoring/event.hpp"

#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace custodian {

namespace asio = boost::asio;

/// One wait, which lives in the frame of its coroutine. A context that is destroyed destroys the
/// coroutines that still wait, so the destructor removes all pointers to the wait.
struct AsyncEvent::Waiter {
  Waiter(AsyncEvent& of, const asio::any_io_executor& strand, Deadline until,
         CancellationPtr callers)
      : event{&of}, timer{strand, until.time_point()}, cancellation{std::move(callers)} {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    if (cancellation) cancellation->forget(this);
    if (event != nullptr) event->waiting_.erase(this);
  }

  AsyncEvent* event;  ///< null if it was destroyed first
  asio::steady_timer timer;
  const CancellationPtr cancellation;
};

asio::awaitable<void> AsyncEvent::wait(asio::any_io_executor strand, Deadline until,
                                       CancellationPtr cancellation) {
  Waiter waiter{*this, strand, until, cancellation};
  waiting_.insert(&waiter);
  if (cancellation) cancellation->on_request(&waiter, [&waiter] { waiter.timer.cancel(); });
  const bool over = cancellation && cancellation->requested();
  if (!over) co_await waiter.timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

void AsyncEvent::notify_all() {
  for (Waiter* waiter : waiting_) waiter->timer.cancel();
}

AsyncEvent::~AsyncEvent() {
  for (Waiter* waiter : waiting_) waiter->event = nullptr;
}

}  // namespace custodian
