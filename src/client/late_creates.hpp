#pragma once

/// \file
/// LateCreates deletes the nodes of creates that a server applies after the client has settled
/// their outcome, or after their callers have given up.
///
/// To settle a create whose reply was lost, the client lists the parent behind a later write
/// (operations_create.cpp). This proves the outcome only if the servers process the create before
/// the write. There are two exceptions:
///
/// - *Within one session.* A server with Netty connections (TLS needs them) may process requests of
///   a session's earlier connection after it has begun to serve the session's next connection: a
///   request was seen a dozen requests late. Nothing else breaks the order: a server closes a
///   session's earlier connection when the next one begins, and when the session has moved, the
///   requests that reach it through its former server are refused. So a late create has been read
///   by the server, and waits for one of its threads. After a session timeout, no late create is
///   expected.
/// - *After a session was given up*, the session lives on until its leases are released. The
///   requests of a later session prove nothing about the creates of this one, whose own requests
///   may be in the network for as long as the servers keep it. A create is in doubt until that
///   session has a new connection (see above), or is over.
///   Let T be its timeout. The C client notices a dead connection within 2/3 T.
///   ClientSession::retire() lets it try for T to connect, and each attempt may keep the session
///   alive. Then nothing more is sent, and the servers, which count in ticks of at most T/2 and
///   learn of the session through followers, end it within 7/4 T. Together that is less than 4 T.
///
/// So during T within one session, and 4 T after one was given up, the parent of a create that was
/// in doubt is listed again and again, soon and often at first. Nodes with the create's protection
/// are deleted, except the one that its caller owns. The listing begins when the create is settled,
/// or its caller has given up: an earlier one would delete a node that a repetition is about to
/// find.
///
/// Parents are listed one at a time, and only with a connection. Used on the strand only.

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

  /// Remembers a create that began at `began`, whose reply was lost, and which is settled now or
  /// given up. From now on only the node `kept`, which the caller owns, may have this protection;
  /// without `kept`, no node may. `parent` is the path on the server.
  void remember(const std::string& parent, std::string protection, std::optional<std::string> kept,
                Clock::time_point began);
  /// The client has given up its session, which may live on at the servers.
  void session_retired();
  /// This node is about to be deleted.
  void disown(std::string_view path) { doubtful_.disown(path); }
  /// The servers refuse to delete this node.
  void forget(std::string_view path) { doubtful_.forget(path); }
  /// The client is closed: its sessions end, and their ephemeral nodes with them.
  void clear();

 private:
  void schedule();
  void on_look_failed();
  /// How late a create may be applied; longer if a session was given up since it began.
  [[nodiscard]] Clock::duration term(bool of_one_session) const;
  void begin_look();
  [[nodiscard]] static boost::asio::awaitable<void> look(CorePtr core);
  [[nodiscard]] static boost::asio::awaitable<DoubtfulCreates::Look> look_below(CorePtr core,
                                                                                std::string parent);

  ClientCore& core_;
  DoubtfulCreates doubtful_;
  std::optional<Clock::time_point> retired_;  ///< when a session was last given up
  boost::asio::steady_timer timer_;
  bool looking_ = false;
};

}  // namespace custodian::detail
