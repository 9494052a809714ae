#include "client/client_watcher.hpp"

#include <utility>

namespace custodian {

namespace detail {

void ClientWatcher::on_event(error_code error, WatchEventType type) {
  if (outcome_) return;
  outcome_ = Outcome{error, type};
  if (handler_) finish(*outcome_);
}

void ClientWatcher::wait(CancellationPtr cancellation, Handler<WatchEventType> handler) {
  if (handler_) {
    // Only one wait at a time is possible.
    return std::move(handler)(Errc::invalid_argument, WatchEventType::deleted);
  }
  handler_.swap(handler);
  cancellation_ = std::move(cancellation);
  if (outcome_) return finish(*outcome_);
  if (!cancellation_) return;
  if (cancellation_->requested()) return finish({boost::asio::error::operation_aborted, {}});
  cancellation_->on_request(this, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish({boost::asio::error::operation_aborted, {}});
  });
}

void ClientWatcher::abandon() {
  if (handler_) finish({boost::asio::error::operation_aborted, {}});
}

void ClientWatcher::finish(Outcome outcome) {
  if (cancellation_) cancellation_->forget(this);
  cancellation_.reset();
  Handler<WatchEventType> handler{std::move(handler_)};
  std::move(handler)(outcome.error, outcome.type);
}

}  // namespace detail

}  // namespace custodian
