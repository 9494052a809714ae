#pragma once

/// \file
/// ConnectionState is what a client knows of its connection. The states are Curator's, with one
/// exception: while no server can be reached, a client that holds no lease stays `suspended`, and
/// keeps its session, however long that lasts.

#include <functional>
#include <memory>
#include <string_view>

#include "custodian/export.hpp"
namespace custodian {

/// The state of the client's connection and session.
///
///     connecting --> connected --> suspended --> reconnected --> suspended ...
///                                      |
///                                      +--> lost --> connecting (a new session) --> connected
///     any --> closed
enum class ConnectionState {
  connecting,   ///< there is no session yet
  connected,    ///< a new session has begun: the ephemeral nodes of an earlier one are gone
  suspended,    ///< there is no connection, but the session may be alive: locks are in doubt
  reconnected,  ///< the same session goes on: locks and watches are still there
  /// The session has ended, or was given up: its ephemeral nodes, locks and watches are gone. A
  /// session is given up when a lease has run out by the lease clock, or when working servers do
  /// not continue the session.
  lost,
  closed,  ///< this program has closed the client, for good
};

/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(ConnectionState state) noexcept;

/// Whether requests can be sent: connected or reconnected.
[[nodiscard]] constexpr bool is_connected(ConnectionState state) noexcept {
  return state == ConnectionState::connected || state == ConnectionState::reconnected;
}

/// A subscription keeps a listener registered until the subscription is destroyed. Move-only. After
/// the destructor has returned, no new call begins; a call that is under way on another thread may
/// still be running.
class Subscription {
 public:
  Subscription() = default;
  /// For authors of recipes: destroying `registration` must end the subscription.
  explicit Subscription(std::shared_ptr<void> registration)
      : registration_{std::move(registration)} {}
  /// A moved-from object keeps nothing registered.
  Subscription(Subscription&&) noexcept = default;
  /// Ends the subscription that this object had before.
  Subscription& operator=(Subscription&&) noexcept = default;

  /// Ends the subscription now, as the destructor does.
  void reset() noexcept { registration_.reset(); }

 private:
  std::shared_ptr<void> registration_;
};

/// Receives the new state of the connection. Called on the client's callback executor, in the order
/// of the changes.
using ConnectionListener = std::function<void(ConnectionState)>;

}  // namespace custodian
