#pragma once

/// \file
/// Session is one ZooKeeper session as a client sees it: the seam between a `Client` and the wire.
///
/// A `Client` submits `Request`s to a `Session` and is notified of its states. A `Session` is one
/// ZooKeeper session, from its first handshake to its end; when it is over, the client makes
/// another one. The default session talks to real servers; a test brings its own (an in-memory
/// fake, or a wrapper that injects faults) through `ClientOptions::session_factory`. The seam lies
/// *below* the client's retries: a request that fails here is retried by the client.
///
/// Use it in tests; an application uses `Client` and never sees these types.
///
/// Threads: all functions and handlers are called on the strand that the factory was given.

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/clock.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/log.hpp"
#include "custodian/node.hpp"
#include "custodian/transaction.hpp"

namespace custodian {

namespace detail {
class Sasl;
class Tls;
}  // namespace detail

/// The event of a watched node. A watch ends with its first event.
enum class WatchEventType { created, deleted, data_changed, children_changed };
/// The event in words, for people.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(WatchEventType type) noexcept;

/// The object of a watch: a node's existence and data, or the list of its children.
enum class WatchKind { data, children };

/// Receives the one event of a watch, or `Errc::session_lost` / `Errc::closed` if the session ends
/// before the event. A watch survives reconnections of its session; but if a session has more
/// watches than one request can restore, some end at a disconnection, with `data_changed` or
/// `children_changed`: the node or its children may have changed. A watcher serves one request.
class CUSTODIAN_EXPORT Watcher {
 public:
  virtual ~Watcher() = default;
  /// Reports the event. Called on the strand, once. `type` is meaningful only without an error.
  virtual void on_event(error_code error, WatchEventType type) = 0;
};

namespace request {
/// Creates a node.
struct Create {
  /// The path; of a sequential node, the part before the number.
  std::string path{};
  /// The node's data: any bytes.
  std::string data{};
  /// How long the node lives, and whether it is numbered.
  CreateMode mode = CreateMode::persistent;
  /// The node's permissions.
  Acl acl{};
  /// The time to live, for the modes that have one.
  std::chrono::milliseconds ttl{0};
};
/// Deletes a node without children.
struct Remove {
  /// The node's path.
  std::string path{};
  /// The required version: the request fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// Reads the metadata of a node that need not exist.
struct Exists {
  /// The node's path.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok" or "no node"
};
/// Reads a node.
struct Get {
  /// The node's path.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok"
};
/// Writes a node.
struct Set {
  /// The node's path.
  std::string path{};
  /// The node's new data: any bytes.
  std::string data{};
  /// The required version: the request fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// Lists the names of a node's children.
struct GetChildren {
  /// The node's path.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok"
};
/// Reads a node's ACL.
struct GetAcl {
  /// The node's path.
  std::string path{};
};
/// Replaces a node's ACL.
struct SetAcl {
  /// The node's path.
  std::string path{};
  /// The permissions from now on.
  Acl acl{};
  /// The required version of the ACL: the request fails with bad_version if the ACL has another.
  std::int32_t version = any_version;
};
/// Waits until the server has caught up with its leader.
struct Sync {
  /// The path whose changes must have arrived.
  std::string path{};
};
/// Applies all operations of a transaction, or none.
struct Multi {
  /// The operations, in the order in which they are applied.
  std::vector<std::variant<Create, Set, Remove, transaction::Check>> operations{};
};
}  // namespace request

/// A request from a client to its session.
using Request = std::variant<request::Create, request::Remove, request::Exists, request::Get,
                             request::Set, request::GetChildren, request::GetAcl, request::SetAcl,
                             request::Sync, request::Multi>;

/// When a request was sent, when its answer came, and what the answer proves: the input of the
/// lease clock. Only a result that a quorum decided (of create, set, remove or multi; a failed
/// check counts, too) proves that the servers still have a quorum.
struct ReplyProof {
  std::uint64_t connection = 0;  ///< the number of the client's connection, counted from 1
  BootClock::time_point sent{};  ///< when the request was sent, or a little earlier
  /// When the answer came, or a little later; zero if no server answered.
  BootClock::time_point acknowledged{};
  /// Whether the answer proves that the servers have a quorum.
  bool quorum_result = false;
};

/// Whether this result shows that a server has processed the request. False if the connection
/// failed, or if the server refused the request unprocessed (throttled, session moved or expired,
/// read-only, not authenticated).
[[nodiscard]] CUSTODIAN_EXPORT bool is_answer_of_server(const error_code& error) noexcept;
/// Whether a quorum decides this kind of request. The quorum decides it even if the request ends
/// with an error, since the leader proposes errors, too.
[[nodiscard]] CUSTODIAN_EXPORT bool is_decided_by_quorum(const Request& request) noexcept;

/// The answer to any request. The comment of each field names the requests that set it.
struct Reply {
  /// No error if the request was applied; the fields of the request are then set. After a failure
  /// only `stamp`, and the `results` of a multi, may be set.
  error_code error{};
  std::string path{};                        ///< create
  std::string data{};                        ///< get
  Stat stat{};                               ///< every request whose answer has metadata
  std::vector<std::string> children{};       ///< get_children
  Acl acl{};                                 ///< get_acl
  std::vector<TransactionResult> results{};  ///< multi
  /// When the request was sent and answered.
  ReplyProof stamp{};
};

/// Called once, on the strand, with the answer.
using ReplyHandler = boost::asio::any_completion_handler<void(Reply)>;

/// The facts about a session.
struct SessionInfo {
  std::int64_t id = 0;  ///< the session's number; 0 if there is no session yet
  /// The session's password, 16 bytes. Id and password give control of the session: keep the
  /// password secret.
  std::string password{};
  std::chrono::milliseconds timeout{0};  ///< the session timeout that the servers granted
  /// The number of the client's newest connection, counted from 1.
  std::uint64_t connection = 0;
  /// When that connection's handshake was sent, or a little earlier.
  BootClock::time_point handshake{};
  std::string server{};  ///< "address:port" of the server; empty if not known
};

/// The state of a session.
enum class SessionState {
  connecting,  ///< there is no connection (yet, or any more); the session may still be alive
  /// A server answers.
  connected,
  expired,      ///< the servers have ended the session, or do not continue it; final
  auth_failed,  ///< the servers refused the credentials; final
  /// The servers accept only clients that authenticate with another scheme, and close each
  /// connection at its first request; final.
  auth_required,
  identity_refused,  ///< the servers refused the identity that SASL proves; final
  closed,            ///< this program has closed the session; final
};

/// The settings of a session.
struct SessionSettings {
  std::string servers{};  ///< "host:port,..." without a chroot
  /// The timeout to ask the servers for.
  std::chrono::milliseconds session_timeout{0};
  /// When an address has not answered for this long, the next one is tried.
  std::chrono::milliseconds connect_timeout{0};
  /// How many connections the client's earlier sessions had.
  std::uint64_t earlier_connections = 0;
  /// A proof of the client's identity, as in `ClientOptions::Credential`.
  struct Credential {
    /// The scheme, such as "digest".
    std::string scheme{};
    /// The proof in the form of the scheme, such as "user:password".
    std::string value{};
    /// Equal if all members are equal.
    friend bool operator==(const Credential&, const Credential&) = default;
  };
  /// The credentials, which are presented to every server.
  std::vector<Credential> credentials{};
  /// As `ClientOptions::tls`, for the default session. Null: plain connections.
  std::shared_ptr<detail::Tls> tls{};
  /// As `ClientOptions::sasl`, for the default session. Null: connections are not authenticated.
  std::shared_ptr<const detail::Sasl> sasl{};
  /// The size in bytes up to which the servers accept a request; as
  /// `ClientOptions::max_request_size`.
  std::size_t max_request_size = 0xfffff;
  /// The clock for the times in ReplyProof and SessionInfo; it must be the clock of the client's
  /// leases. Null: BootClock.
  std::shared_ptr<Clock> clock{};
};

/// Is notified of each change of a session's state, in order. When the state has become
/// `connected`, requests that the observer submits within the call are sent before all others on
/// that connection.
class CUSTODIAN_EXPORT SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  /// The session is now in this state; `info` has the facts about it.
  virtual void on_state(SessionState state, const SessionInfo& info) = 0;
  /// A server has answered a request; the request's handler is called next.
  virtual void on_answer(const ReplyProof& stamp) = 0;
  /// The session has a line for the log.
  virtual void on_log(LogLevel level, std::string message) = 0;
  /// The servers refuse the credentials of `Session::set_credentials()`; the session goes on with
  /// the credentials in `kept`.
  virtual void on_credentials_refused(const std::vector<SessionSettings::Credential>& kept) {
    static_cast<void>(kept);
  }
};

/// One ZooKeeper session, from its first handshake to its end.
/// \copydetails custodian/session/session.hpp
class CUSTODIAN_EXPORT Session {
 public:
  virtual ~Session() = default;

  /// Begins to connect to the servers.
  virtual void start() = 0;

  /// Sends a request at once. The handler is called exactly once, never from within submit(), and
  /// in the order of submission among the requests of one connection. Without a connection, the
  /// error is `Errc::not_connected`, and nothing was sent. If the connection is lost before the
  /// reply, the error is `ServerErrc::connection_loss`.
  virtual void submit(Request request, ReplyHandler handler) = 0;

  /// Ends a watch without an event, and removes it from the server if no other watcher of this
  /// session needs it. The request of the watcher may still be without a reply. Does nothing if the
  /// watch is over.
  virtual void unwatch(const std::shared_ptr<Watcher>& watcher) = 0;

  /// Ends the session: fails the requests under way (`Errc::closed`), ends all watches, and
  /// notifies the servers, so that they delete the session's ephemeral nodes at once. Calls `done`
  /// when the message to the servers is sent and confirmed, or when `grace` has passed. Does not
  /// block.
  virtual void close(std::chrono::milliseconds grace, std::function<void()> done) = 0;

  /// Stops serving: fails the requests under way (connection_loss), ends all watches
  /// (session_lost), and refuses new requests (not_connected). The session itself goes on, with its
  /// ephemeral nodes, until close().
  virtual void retire() = 0;

  /// Gives up the connection, but not the session, as a network failure would.
  virtual void disconnect() = 0;

  /// Replaces the servers ("host:port,...", validated before). The present connection stays if its
  /// server is among them.
  virtual void set_servers(std::string servers) = 0;

  /// Replaces the credentials (validated before). New credentials are first tried on another
  /// session; once the servers have accepted them there, they are presented on the present
  /// connection and on every later one. Earlier credentials that are no longer in the list stay
  /// with the session, since they cannot be taken back. If the servers refuse new credentials, the
  /// session goes on: see SessionObserver::on_credentials_refused().
  virtual void set_credentials(std::vector<SessionSettings::Credential> credentials) = 0;

  /// The numbers of operations and watches, for tests which check that nothing is left over.
  struct Load {
    /// Operations without a reply.
    std::size_t operations = 0;
    /// Watches that are armed, or about to be.
    std::size_t watches = 0;
  };
  /// The present load.
  [[nodiscard]] virtual Load load() const = 0;
};

/// Makes a session on a strand. The session does not keep its observer alive, and notifies it only
/// while the observer exists.
using SessionFactory = std::function<std::shared_ptr<Session>(
    boost::asio::any_io_executor strand, SessionSettings settings,
    std::weak_ptr<SessionObserver> observer)>;

/// Makes a session that talks to ZooKeeper servers: the default.
[[nodiscard]] CUSTODIAN_EXPORT std::shared_ptr<Session> make_zookeeper_session(
    boost::asio::any_io_executor strand, SessionSettings settings,
    std::weak_ptr<SessionObserver> observer);

}  // namespace custodian
