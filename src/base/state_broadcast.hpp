#pragma once

/// \file
/// *StateBroadcast* passes each new state on to its listeners, and to the waiters for the next one.

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/state_waiters.hpp"
#include "base/weak_list.hpp"
#include "custodian/connection_state.hpp"

namespace custodian::detail {

/// The newest state, its listeners (any thread) and its waiters (the strand only).
template <typename State>
class StateBroadcast {
 public:
  using Listener = std::function<void(State)>;

  explicit StateBroadcast(State first) : newest_{first} {}

  // Called on any thread.
  [[nodiscard]] State newest() const {
    const std::lock_guard lock{mutex_};
    return newest_;
  }
  /// The listener is notified of each state that is set from now on, for as long as the
  /// subscription lives.
  [[nodiscard]] Subscription listen(Listener listener) {
    auto registration = std::make_shared<Listener>(std::move(listener));
    const std::lock_guard lock{mutex_};
    listeners_.add(registration);
    return Subscription{std::move(registration)};
  }

  // Called on the strand only.
  /// A new state, and the listeners that were registered when it was set.
  struct Change {
    State state;
    std::vector<std::weak_ptr<Listener>> listeners;
  };
  /// Sets the newest state. The caller passes the result to notify().
  [[nodiscard]] Change set(State now) {
    const std::lock_guard lock{mutex_};
    newest_ = now;
    return {now, listeners_.alive()};
  }
  /// Hands a call of each listener to `call_back`, which runs it where user code runs; then
  /// completes the waits of the waiters that know another state.
  template <typename CallBack>
  void notify(Change change, CallBack call_back) {
    for (auto& weak : change.listeners) {
      call_back([weak = std::move(weak), state = change.state] {
        if (const auto listener = weak.lock()) (*listener)(state);
      });
    }
    waiters_.tell(change.state);
  }
  /// Completes when the state differs from the known one; at once if `now` does. See StateWaiters.
  void wait(State now, State known, const CancellationPtr& cancellation, Handler<State> handler) {
    waiters_.wait(now, known, cancellation, std::move(handler));
  }

  /// Whether there was ever a waiter. Called on any thread.
  [[nodiscard]] bool has_waiters() const noexcept { return waiters_.used(); }
  /// Takes the waiters from a broadcast that ends; the caller aborts them on the strand.
  [[nodiscard]] StateWaiters<State> take_waiters() { return std::move(waiters_); }

 private:
  StateWaiters<State> waiters_;

  mutable std::mutex mutex_;  ///< guards what follows
  State newest_;
  WeakList<Listener> listeners_;
};

}  // namespace custodian::detail
