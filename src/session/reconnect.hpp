#pragma once

/// \file
/// Reconnect decides how a session connects and reconnects: its states, the next action after each
/// event, and every pause. Pure: ZooKeeperSession passes in events and times, and carries the
/// actions out (`zookeeper_session.cpp`, `zookeeper_session_reconnect.cpp`). Resolver looks the
/// servers' names up, AddressOrder says which address is next, and Connector dials it.
/// `client/sessions.cpp` carries out the result of next_session().
///
/// The *link* of a session is where its connection stands:
///
///     resolving ------> connecting <----> backing_off
///                         |   ^
///                         v   |
///                       connected
///
///     resolving    names are looked up, and no address is known yet. If none is found (or none
///                  that this machine can use), the look-up is repeated after a pause
///     connecting   an address is dialled, or its server has not answered the handshake yet; one
///                  that does not answer for a connect timeout is cut off
///     backing_off  all addresses have failed, and rest
///     connected    a server answers. A connection that is lost leads back to connecting: the
///                  session lives on, and finds another server
///
/// A connection ends, and the session reconnects, because
///
/// - the server or the network has ended it, or TLS has failed;
/// - the server is silent: the heartbeat (`client/lease_clock.hpp`) notices that, and ClientSession
///   calls disconnect();
/// - set_servers(), or a look-up of the names, has removed its address;
/// - Inbox finds a fault in what the server has sent, or the C client cannot send.
///
/// ZooKeeperSession::deliver() deals with an end in a fixed order. First look() sees the loss, so
/// that no completion sends a request into the connection that is gone. Then the lost requests are
/// completed; the loss, or the attempt that has failed, is recorded, and the names are looked up
/// again, because addresses change; a new connection is used; the session's end is reported.
///
/// The *purpose* of a session says for whom it connects. The purpose only ever goes down this list:
///
///     serving      accepts requests while connected; without a connection it is *suspended*
///     retired      serves nobody, and reconnects all the same: its nodes stand until it is closed
///     closing      the end of the session is on its way to the servers; no reconnection any more
///     over         expired, refused for its credentials, or closed. The client begins another
///                  session: next_session() says when
///
/// Reconnect does not decide when a session that reaches no server is given up: ConnectionRecord
/// decides that by the ends of the session's connections, and LeaseClock by its leases.

#include <chrono>
#include <optional>

#include "custodian/error.hpp"
#include "custodian/session/session.hpp"
#include "session/handle_state.hpp"

namespace custodian::detail {

/// The pauses of reconnection, besides those of AddressPace. They are not a RetryPolicy, because a
/// policy's pause may be drawn as 0.
struct ReconnectPace {
  /// The pause after the servers' names led to no address that can be tried.
  static constexpr std::chrono::milliseconds without_address{1000};
  /// The pause between two looks at a socket whose events cannot be waited for, as when the process
  /// is out of descriptors.
  static constexpr std::chrono::milliseconds unwatched_socket{100};
  /// The pause after the servers refused the credentials, or the identity that SASL proves: they
  /// would refuse them again at once.
  static constexpr std::chrono::milliseconds refused_credentials{5000};
};

/// The state of a session's connection; see above.
enum class Link { resolving, connecting, backing_off, connected };

/// The purpose of a session's connection; see above. The enumerators are in the order in which the
/// purpose changes.
enum class Purpose { serving, retired, closing, over };

/// The story of one session's connections, from its start to its end.
class Reconnect {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Pause = std::chrono::milliseconds;

  /// An address that does not answer is cut off after `connect_timeout`.
  explicit Reconnect(Pause connect_timeout) : connect_timeout_{connect_timeout} {}

  [[nodiscard]] Link link() const noexcept { return link_; }
  [[nodiscard]] Purpose purpose() const noexcept { return purpose_; }
  /// The state that an observer of the session is notified of.
  [[nodiscard]] SessionState state() const noexcept;
  [[nodiscard]] bool connected() const noexcept { return link_ == Link::connected && !over(); }
  [[nodiscard]] bool serving() const noexcept { return purpose_ == Purpose::serving; }
  /// Serving, but without a connection.
  [[nodiscard]] bool suspended() const noexcept { return serving() && !connected(); }
  [[nodiscard]] bool closing() const noexcept { return purpose_ == Purpose::closing; }
  [[nodiscard]] bool over() const noexcept { return purpose_ == Purpose::over; }
  /// Whether addresses that are found now are of use.
  [[nodiscard]] bool wants_addresses() const noexcept { return purpose_ < Purpose::closing; }
  /// Why a request cannot be sent now; no error if it can.
  [[nodiscard]] error_code refusal() const;

  // -- Addresses ----------------------------------------------------------------------------------

  /// The result of a look-up of the names.
  enum class Found { no_address, the_same, others };
  enum class AfterLookUp { nothing, open_handle, replace_addresses, look_up_after_pause };
  /// The names were looked up. Returns what the caller does next.
  [[nodiscard]] AfterLookUp looked_up(Found found) const noexcept;
  /// The handle is open, and the addresses are dialled. (If it could not be opened, the caller
  /// looks the names up again after ReconnectPace::without_address.)
  void handle_opened() noexcept { link_ = Link::connecting; }

  /// An address is dialled, or has accepted the connection and gets the handshake.
  void attempted(Time now) noexcept;
  /// All addresses rest.
  void rest() noexcept { link_ = Link::backing_off; }

  /// Whether the handle has a socket, and whether its events can be waited for.
  enum class Socket { none, unwatched, watched };
  struct Wait {
    Pause pause;
    bool cut_off = false;  ///< the address had its time: shut the connection down
  };
  /// How long to wait for the socket: at most for the pause that the handle asks for.
  [[nodiscard]] Wait wait(Time now, Pause asked, Socket socket) noexcept;

  // -- The connection -----------------------------------------------------------------------------

  /// What a look at the handle shows, in the order in which the caller deals with it.
  struct Sight {
    bool failed = false;     ///< the connection has ended before the handshake was answered
    bool refused = false;    ///< `failed`, and it was the peer that ended it
    bool lost = false;       ///< the established connection is gone
    bool connected = false;  ///< a new one is established: see on_connected()
    std::optional<SessionState> ended;  ///< the session is over: see on_end()
  };
  /// Called after each call of the handle, with its state. After a loss, no request is accepted,
  /// not even while the lost operations are being completed.
  [[nodiscard]] Sight look(HandleState now) noexcept;
  /// The connection may be used from now on.
  void on_connected() noexcept;
  /// This client ends the connection, and the session lives on.
  void on_cut_off() noexcept { cut_off_ = true; }
  /// Whether this client has ended the newest connection, or attempt.
  [[nodiscard]] bool was_cut_off() const noexcept { return cut_off_; }

  // -- The session --------------------------------------------------------------------------------

  /// The session takes no new requests from now on. Returns whether that is new.
  [[nodiscard]] bool retire() noexcept;
  enum class AfterClose { begin_closing, wait_for_the_first, nothing };
  /// The session must end. Returns what the caller does next.
  [[nodiscard]] AfterClose close() noexcept;
  /// The session has ended this way. Returns whether its observer must be notified: an end during
  /// the closing is reported by the closing.
  [[nodiscard]] bool on_end(SessionState how) noexcept;

 private:
  const Pause connect_timeout_;
  Link link_ = Link::resolving;
  Purpose purpose_ = Purpose::serving;
  SessionState end_ = SessionState::closed;  ///< how the session ended, if it is over
  HandleState handle_ = HandleState::disconnected;
  Time attempted_at_;
  bool cut_off_ = false;
};

/// The next step of a client whose session is over.
enum class NextSession {
  none,                      ///< the client is closed
  at_once,                   ///< the servers ended the session: begin another
  with_proven_credentials,   ///< begin another with the credentials that were accepted before
  after_refused_credentials  ///< fail what is under way, and begin another after a pause
};

/// Whether the servers have ever accepted a session with the credentials of the one that ended.
enum class CredentialRecord { proven, unproven };

/// When the next session begins after one that has ended this way, and with which credentials.
[[nodiscard]] NextSession next_session(SessionState end, CredentialRecord credentials) noexcept;

}  // namespace custodian::detail
