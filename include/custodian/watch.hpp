#pragma once

/// \file
/// Watch is a one-shot watch on a node.
///
/// A watch is armed together with a read, so no change between the two is missed: `auto [result,
/// watch] = co_await client.async_get_and_watch(path, {}, use_awaitable);` Then `co_await
/// watch.async_wait(use_awaitable)` ends with the first change after that read.
///
/// Do not use a watch to follow every change: several changes between an event and the next read
/// are seen as one, as with every ZooKeeper watch. Keep few watches: each is sent again after every
/// reconnection.
///
/// An event says that something *may* have changed: read again, and compare. If a client has more
/// watches than one request can restore after a disconnection (half of
/// `ClientOptions::max_request_size`), the remaining watches end, with `data_changed` or
/// `children_changed`.
///
/// Threads: one thread at a time may use a Watch. Lifetimes: destroying a Watch removes the watch
/// from the server, and ends a wait with operation_aborted. A Watch may outlive its client.

#include <boost/asio/any_completion_handler.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/session/session.hpp"

namespace custodian {

namespace detail {
class ClientWatcher;
}  // namespace detail

// The functions before the class are for authors of recipes.
/// Starts a wait for a watch, as a step of a recipe.
CUSTODIAN_EXPORT void start_wait(CorePtr core, CancellationPtr cancellation,
                                 std::shared_ptr<detail::ClientWatcher> watcher,
                                 Handler<WatchEventType> handler);
/// The same for a wait of user code, which ends if the client's context is destroyed: see
/// bound_to_context().
CUSTODIAN_EXPORT void start_wait_of_user(CorePtr core, CancellationPtr cancellation,
                                         std::shared_ptr<detail::ClientWatcher> watcher,
                                         Handler<WatchEventType> handler);
/// Waits for the first event of several watches, of which there must be at least one. Each watch
/// may be waited for again afterwards.
CUSTODIAN_EXPORT void start_wait_any(CorePtr core, CancellationPtr cancellation,
                                     std::vector<std::shared_ptr<detail::ClientWatcher>> watchers,
                                     Handler<> handler);
/// Whether a watch is over: its event has come, or its session has ended. Called on the strand.
[[nodiscard]] CUSTODIAN_EXPORT bool is_over(const std::shared_ptr<detail::ClientWatcher>& watcher);
/// The event of a watch; nothing if it has not come yet, or if the session has ended first. Called
/// on the strand.
[[nodiscard]] CUSTODIAN_EXPORT std::optional<WatchEventType> event_of(
    const std::shared_ptr<detail::ClientWatcher>& watcher);

/// A one-shot watch on a node. Move-only.
/// \copydetails custodian/watch.hpp
class CUSTODIAN_EXPORT Watch {
 public:
  /// An empty watch, which cannot be waited for.
  Watch() = default;
  /// Makes the Watch of a watcher. For authors of recipes.
  Watch(CorePtr core, std::shared_ptr<detail::ClientWatcher> watcher);
  /// A moved-from watch is empty.
  Watch(Watch&&) noexcept = default;
  /// Ends the watch that this object held before. `other` is empty then.
  Watch& operator=(Watch&& other) noexcept;
  ~Watch();

  /// Whether there is something to wait for.
  [[nodiscard]] explicit operator bool() const noexcept { return watcher_ != nullptr; }

  /// Waits for the event; completes at once if it has come already. `token` may be any completion
  /// token, such as a callback. One wait at a time. Throws Error (invalid_argument) at once if the
  /// watch is empty.
  /// Completes with: error, the event.
  /// Cancellation: total; the watch stays armed.
  /// Errors: session_lost, closed, operation_aborted, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Token&& token) {
    return initiate<void(error_code, WatchEventType), &start_wait_of_user>(
        core_for("async_wait"), std::forward<Token>(token), watcher_);
  }

  /// The blocking form of async_wait(). Throws Error; `stop` ends it with operation_aborted.
  WatchEventType wait(std::stop_token stop = {});

  /// For authors of recipes: the argument for `await<&start_wait, WatchEventType>`.
  [[nodiscard]] const std::shared_ptr<detail::ClientWatcher>& state() const noexcept {
    return watcher_;
  }

 private:
  /// The client's core, for this operation. Throws Error if the watch is empty.
  [[nodiscard]] const CorePtr& core_for(std::string_view operation) const;

  CorePtr core_;
  std::shared_ptr<detail::ClientWatcher> watcher_;
};

}  // namespace custodian
