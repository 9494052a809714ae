#pragma once

/// \file
/// ConnectionRecord judges the servers by the ends of a session's connections. Pure: the caller
/// passes in events and times, and acts on the answers.
///
/// Four causes can keep a session from ever having a connection again. The first two are silent on
/// the wire; in the others the servers say what is wrong:
///
/// - A request right behind the handshake is longer than the servers accept: they end the
///   connection without an answer. After a reconnection, that request is the one that restores the
///   watches. Each handshake keeps the session alive, so that only the client can end it.
/// - The servers have not seen the newest transaction that this session has seen: they were
///   rebuilt, restored from an older snapshot, or are another ensemble. They accept the connection
///   and end it before they answer the handshake (ZooKeeperServer.processConnectRequest). A server
///   without a quorum does the same, and that must not cost the session. A *probe*, a new session
///   that has seen nothing, distinguishes the two: only servers that work accept it.
/// - The servers work only for clients that authenticate (enforce.auth.enabled). They continue the
///   session, answer the first request on each connection with an error that says so, and end the
///   connection.
/// - The SASL exchange does not complete: the servers refuse the client's identity, or the exchange
///   fails after they have continued the session, which keeps it alive as a handshake does.

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace custodian::detail {

class ConnectionRecord {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  using Duration = Clock::duration;

  enum class EndedBy { peer, us };

  /// `requested` is the session's timeout until a server sets another.
  explicit ConnectionRecord(Duration requested) : timeout_{requested} {}

  /// The handshake was answered, so the session has a connection; `timeout` is the session's.
  void connected(Time now, Duration timeout);
  /// A request was sent that a server will answer.
  void asked();
  /// A server has answered a request on the connection.
  void answered();
  void disconnected(Time now, EndedBy whom);
  /// The server at this address answers that it works only for clients that authenticate, and ends
  /// the connection.
  void unauthenticated(const std::string& address, Time now);
  /// The server at this address refuses the identity that SASL proves, so that there is no
  /// connection. After the session has had a connection, the first refusal at each address does not
  /// count: a ticket may have expired on its way, and the next attempt brings a new one.
  void identity_refused(const std::string& address, Time now);
  /// The server has continued the session, but there is no connection, because the SASL exchange
  /// did not complete.
  void continued_unauthenticated(Time now);
  /// The server has worked on a request. Returns whether it is the first one on the connection.
  bool served() noexcept;
  /// An address is tried.
  void attempted(const std::string& address, Time now);
  /// The peer has ended a connection before it answered the handshake.
  void refused(Time now);
  /// A probe has got a session from these servers, so they work. For a session timeout from now on,
  /// attempts and refusals are counted.
  void probe_connected(Time now);
  /// A probe cannot get a session: its identity is refused, for example.
  void probe_over(Time now);

  /// Whether a server has answered a request on the newest connection.
  [[nodiscard]] bool was_answered() const noexcept { return answered_; }
  /// Whether it has ever happened that several connections in a row ended before any answer: then
  /// no watches should be restored on the next connections.
  [[nodiscard]] bool restores_nothing() const noexcept { return restores_nothing_; }
  /// Whether connections have gone on ending without any answer for a session timeout, although
  /// nothing was restored on them.
  [[nodiscard]] bool never_answers(Time now) const noexcept;
  /// Whether the server of the newest connection has said that the session lacks authentication.
  [[nodiscard]] bool is_unauthenticated() const noexcept { return refuses_; }
  /// Whether no server works for this session until it authenticates. That counts as certain if,
  /// since a server last worked on a request, all addresses have said so, or one has said so for a
  /// session timeout.
  [[nodiscard]] bool lacks_authentication(const std::vector<std::string>& addresses,
                                          Time now) const;
  /// Whether no server accepts the identity that SASL proves. That counts as certain if, since the
  /// last connection, all addresses have refused it, or one has refused it for a session timeout.
  [[nodiscard]] bool is_identity_refused(const std::vector<std::string>& addresses, Time now) const;
  /// Whether the servers have continued the session several times, for a session timeout, without a
  /// connection. With each continuation, the servers count the session's timeout anew.
  [[nodiscard]] bool is_never_authenticated(Time now) const noexcept;
  /// Whether the session has had no connection for so long that a probe must find out why, and no
  /// probe has connected or ended lately.
  [[nodiscard]] bool wants_probe(Time now) const noexcept;
  /// Whether the servers work but do not continue this session: since a probe was connected they
  /// have refused it for a while and several times, and each address was tried twice.
  [[nodiscard]] bool is_refused(const std::vector<std::string>& addresses, Time now) const;

 private:
  static constexpr int suspicious = 3;

  /// When each address first refused.
  using Refusals = std::map<std::string, Time>;

  [[nodiscard]] bool servers_work(Time now) const noexcept;
  [[nodiscard]] bool is_enough(const Refusals& said, const std::vector<std::string>& addresses,
                               Time now) const;

  Duration timeout_;
  bool connected_ = false;
  bool asked_ = false;     ///< a request was sent on the newest connection
  bool answered_ = false;  ///< a server has answered on the newest connection
  bool served_ = false;    ///< a server has worked on a request on the newest connection
  bool refuses_ = false;   ///< the newest connection's server wants authentication
  int unanswered_ = 0;     ///< connections in a row that have ended before any answer
  bool restores_nothing_ = false;
  Time unanswered_since_{};  ///< when the first of the unanswered connections began
  Time disconnected_at_{};
  Refusals unauthenticated_{};     ///< refusals since a server last worked on a request
  bool has_stood_ = false;         ///< there has been a connection
  std::set<std::string> doubted_;  ///< addresses whose first refusal did not count
  Refusals refused_identities_{};  ///< refusals since the last connection
  int continuations_ = 0;          ///< of the session, since the last connection
  Time first_continuation_{};

  /// When a probe was connected in this outage, for the first and for the last time.
  std::optional<Time> first_probe_;
  std::optional<Time> last_probe_;
  std::optional<Time> probe_rests_until_;
  std::map<std::string, int> attempts_{};  ///< at each address, since a probe was connected
  int refusals_ = 0;
};

}  // namespace custodian::detail
