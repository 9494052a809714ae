#pragma once

/// \file
/// LateCreates handles creates that are applied when they are not expected any more, and deletes
/// their nodes.
///
/// What settles a create whose reply was lost is a look behind a later write
/// (operations_create.cpp). That proves what has become of it only if the servers keep the order of
/// the two. They do not always:
///
/// - *Within one session.* A server with Netty connections (TLS needs them) hands on what it has
///   read from an earlier connection after it has begun to serve the next one: seen a dozen
///   requests late. All else is in order: a server closes a session's earlier connection when the
///   next one begins, and refuses what comes by another server when the session has moved. So a
///   late request was read by the server, and waits for a thread of it; after a session timeout it
///   is not expected.
/// - *Of a session that was given up* while leases on it are not released. A later session's
///   requests prove nothing about it, and its requests may be in the network for as long as the
///   servers keep that session. The doubt ends when the session has a new connection (above), or is
///   over.
///   Let T be its timeout. The library notices a dead connection within 2/3 T;
///   ClientSession::retire() tries for T to connect, and each attempt may keep the session alive;
///   then nothing more is sent, and the servers, which count in ticks of at most T/2 and hear
///   through followers, end it within 7/4 T. That is less than 4 T together.
///
/// So for so long, where an earlier create was in doubt, its parent is listed again and again, soon
/// and often at first, and nodes with its protection, except the one that its caller owns, are
/// deleted. Not before the doubt is over, or it would delete a node that a repetition is about to
/// find.
///
/// A request at a time; nothing while there is no connection. Strand only.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/doubtful_creates.hpp"
#include "custodian/authoring/bridge.hpp"

namespace custodian::detail {

class ClientCore;

class LateCreates {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LateCreates(ClientCore& core);

  /// A create that was begun then has been in doubt, and is not any more: from now on nothing but
  /// `kept`, the node that its caller owns, may have this protection. Paths as the server knows
  /// them.
  void remember(const std::string& parent, std::string protection, std::optional<std::string> kept,
                Clock::time_point began);
  /// The client's session is given up, and may go on.
  void session_retired();
  /// This node is about to be deleted.
  void disown(std::string_view path) { doubtful_.disown(path); }
  /// The servers refuse to delete this node.
  void forget(std::string_view path) { doubtful_.forget(path); }
  /// The client is closed: the ends of its sessions take the nodes along.
  void clear();

 private:
  void schedule();
  void on_look_failed();
  /// How late a request of the client's session may come.
  [[nodiscard]] Clock::duration term(bool of_one_session) const;
  void begin_look();
  [[nodiscard]] static boost::asio::awaitable<void> look(CorePtr core);
  [[nodiscard]] static boost::asio::awaitable<DoubtfulCreates::Look> look_below(CorePtr core,
                                                                                std::string parent);

  ClientCore& core_;
  DoubtfulCreates doubtful_;
  std::optional<Clock::time_point> retired_;  ///< when the newest session that was given up was so
  boost::asio::steady_timer timer_;
  bool looking_ = false;
};

}  // namespace custodian::detail
