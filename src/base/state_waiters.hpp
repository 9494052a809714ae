#pragma once

/// \file
/// StateWaiters are the waiters for a state other than the one they know. Used on the strand only.

#include <algorithm>
#include <boost/asio/error.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"

namespace custodian::detail {

template <typename State>
class StateWaiters {
 public:
  /// Whether there was ever a waiter. Called on any thread.
  [[nodiscard]] bool used() const noexcept { return waiting_ != nullptr; }

  /// Completes at once if the state differs from the known one already. A cancelled wait completes
  /// with operation_aborted and the known state.
  void wait(State now, State known, const CancellationPtr& cancellation, Handler<State> handler) {
    if (now != known) return std::move(handler)(error_code{}, now);
    if (cancellation && cancellation->requested()) {
      return std::move(handler)(boost::asio::error::operation_aborted, now);
    }
    if (!waiting_) waiting_ = std::make_shared<Waiting>();
    auto waiter = std::make_unique<Waiter>(Waiter{known, cancellation, std::move(handler)});
    if (cancellation) {
      cancellation->on_request(waiter.get(), [weak = std::weak_ptr{waiting_}, key = waiter.get()] {
        const auto waiting = weak.lock();
        if (!waiting) return;
        const auto found = std::ranges::find(*waiting, key, &std::unique_ptr<Waiter>::get);
        if (found == waiting->end()) return;
        const std::unique_ptr<Waiter> given_up = std::move(*found);
        waiting->erase(found);
        std::move(given_up->handler)(boost::asio::error::operation_aborted, given_up->known);
      });
    }
    waiting_->push_back(std::move(waiter));
  }

  /// Completes the waits of all waiters that know another state.
  void tell(State now) {
    if (!waiting_) return;
    // The waiters are collected first, because a handler may wait again, or cancel another waiter.
    Waiting told;
    for (auto& each : *waiting_) {
      if (each->known != now) told.push_back(std::move(each));
    }
    std::erase(*waiting_, nullptr);
    for (const auto& waiter : told) complete(*waiter, error_code{}, now);
  }

  /// The owner of the state is gone: completes all waits with operation_aborted.
  void abort(State last) {
    if (!waiting_) return;
    for (const auto& waiter : std::exchange(*waiting_, {})) {
      complete(*waiter, boost::asio::error::operation_aborted, last);
    }
  }

 private:
  struct Waiter {
    State known;
    CancellationPtr cancellation;
    Handler<State> handler;
  };
  using Waiting = std::vector<std::unique_ptr<Waiter>>;

  static void complete(Waiter& waiter, error_code error, State state) {
    if (waiter.cancellation) waiter.cancellation->forget(&waiter);
    std::move(waiter.handler)(error, state);
  }

  /// Cancellation handlers have a weak pointer to this vector, because they may run after the
  /// StateWaiters are destroyed.
  std::shared_ptr<Waiting> waiting_;
};

}  // namespace custodian::detail
