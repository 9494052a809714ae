#pragma once

/// \file
/// Session is one ZooKeeper session as a client sees it: the seam between a `Client` and the wire.
///
/// A `Client` submits `Request`s to a `Session` and is notified of its states. A `Session` is one
/// ZooKeeper session, from its first handshake to its end; when it is over, the client makes
/// another one. The default session talks to real servers; a test brings its own (an in-memory
/// fake, or a wrapper that injects faults) through `ClientOptions::session_factory`. The seam lies
/// *below* the client's retries: what fails here is retried above.
///
/// Use it to test; an application uses `Client` and never sees these types.
///
/// Threads: everything happens on the strand that the factory was given.

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
/// In words, for people.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(WatchEventType type) noexcept;

/// The object of a watch: a node's existence and data, or the list of its children.
enum class WatchKind { data, children };

/// Receives the one event of a watch, or `Errc::session_lost` / `Errc::closed` when the session
/// ends before it. A watch survives reconnections of its session; but where a session has more
/// watches than one request can restore, some end at a disconnection, with `data_changed` or
/// `children_changed`: something may have changed. A watcher serves one request.
class CUSTODIAN_EXPORT Watcher {
 public:
  virtual ~Watcher() = default;
  /// On the strand, once. `type` is meaningful only without an error.
  virtual void on_event(error_code error, WatchEventType type) = 0;
};

namespace request {
/// Creates a node.
struct Create {
  /// The path; of a sequential node, the part before the number.
  std::string path{};
  /// Any bytes.
  std::string data{};
  /// How long the node lives, and whether it is numbered.
  CreateMode mode = CreateMode::persistent;
  /// Its permissions.
  Acl acl{};
  /// The time to live, for the modes that have one.
  std::chrono::milliseconds ttl{0};
};
/// Deletes a node without children.
struct Remove {
  /// The node's path.
  std::string path{};
  /// Fails with bad_version if the node has another version.
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
  /// Any bytes.
  std::string data{};
  /// Fails with bad_version if the node has another version.
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
  /// The ACL's version: fails with bad_version if the ACL has another.
  std::int32_t version = any_version;
};
/// Waits until the server has caught up with its leader.
struct Sync {
  /// The path whose changes must have arrived.
  std::string path{};
};
/// Applies all operations, or none.
struct Multi {
  /// Applied in this order.
  std::vector<std::variant<Create, Set, Remove, transaction::Check>> operations{};
};
}  // namespace request

/// A request from a client to its session.
using Request = std::variant<request::Create, request::Remove, request::Exists, request::Get,
                             request::Set, request::GetChildren, request::GetAcl, request::SetAcl,
                             request::Sync, request::Multi>;

/// When a request left, when its answer came, and what the answer proves: the input of the lease
/// clock. Only a result that a quorum decided (of create, set, remove or multi; a failed check
/// counts, too) proves that the servers still have a quorum.
struct ReplyProof {
  std::uint64_t connection = 0;  ///< which connection of the client; counted from 1
  BootClock::time_point sent{};  ///< when the request was sent, or a little earlier
  /// When the answer came, or a little later; zero if no server answered.
  BootClock::time_point acknowledged{};
  /// Whether the answer proves that the servers have a quorum.
  bool quorum_result = false;
};

/// Whether this result shows that a server has processed the request. It does not if the connection
/// failed, or if the server refused to work (throttled, session moved or expired, read-only).
[[nodiscard]] CUSTODIAN_EXPORT bool is_answer_of_server(const error_code& error) noexcept;
/// Whether a quorum decides this kind of request. It does so even if the request ends with an
/// error, since the error is proposed, too.
[[nodiscard]] CUSTODIAN_EXPORT bool is_decided_by_quorum(const Request& request) noexcept;

/// The answer to any request; which fields count depends on the request.
struct Reply {
  /// None if the request was applied. The rest is then filled in.
  error_code error{};
  std::string path{};                        ///< create
  std::string data{};                        ///< get
  Stat stat{};                               ///< of every request whose answer has one
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
  std::int64_t id = 0;  ///< 0: there is none yet
  /// 16 bytes. With the id it gives control of the session: keep it secret.
  std::string password{};
  std::chrono::milliseconds timeout{0};  ///< as negotiated
  std::uint64_t connection = 0;          ///< the newest connection of the client, counted from 1
  BootClock::time_point handshake{};     ///< when its handshake was sent, or a little earlier
  std::string server{};                  ///< "address:port" of the server; empty if it is not known
};

/// The state of a session.
enum class SessionState {
  connecting,  ///< no connection (yet, or any more); the session may still be alive
  /// A server answers.
  connected,
  expired,      ///< the servers ended it, or do not continue it; final
  auth_failed,  ///< the servers refused the credentials; final
  /// The servers work only for clients that authenticate with another scheme, and close each
  /// connection at its first request; final.
  auth_required,
  identity_refused,  ///< the servers refused the identity that SASL proves; final
  closed,            ///< by this program; final
};

/// The settings of a session.
struct SessionSettings {
  std::string servers{};  ///< host:port,... without a chroot
  /// The timeout to ask the servers for.
  std::chrono::milliseconds session_timeout{0};
  /// An address that does not answer for this long is given up for the next one.
  std::chrono::milliseconds connect_timeout{0};
  std::uint64_t earlier_connections = 0;  ///< how many the client's earlier sessions had
  /// As `ClientOptions::Credential`.
  struct Credential {
    /// Such as "digest".
    std::string scheme{};
    /// "user:password".
    std::string value{};
    /// Memberwise.
    friend bool operator==(const Credential&, const Credential&) = default;
  };
  /// Presented to every server.
  std::vector<Credential> credentials{};
  /// As `ClientOptions::tls`, for the default session. Null: plain connections.
  std::shared_ptr<detail::Tls> tls{};
  /// As `ClientOptions::sasl`, for the default session. Null: connections are not authenticated.
  std::shared_ptr<const detail::Sasl> sasl{};
  /// The size in bytes up to which the servers accept a request; as
  /// `ClientOptions::max_request_size`.
  std::size_t max_request_size = 0xfffff;
  /// The clock for the times in ReplyProof and SessionInfo; it must be that of the client's leases.
  /// Null: BootClock.
  std::shared_ptr<Clock> clock{};
};

/// Notified of each change of state, in order. When the state has become `connected`, requests that
/// the observer submits within the call travel before all others on that connection.
class CUSTODIAN_EXPORT SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  /// The session is now in this state; `info` has the facts about it.
  virtual void on_state(SessionState state, const SessionInfo& info) = 0;
  /// A server has answered a request; the request's handler is called next.
  virtual void on_answer(const ReplyProof& stamp) = 0;
  /// A line for the log.
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

  /// Begins to connect.
  virtual void start() = 0;

  /// Sends a request, now. The handler is called exactly once, never from within submit(), in the
  /// order of submission among the requests of one connection. Not connected:
  /// `Errc::not_connected`, and nothing was sent. Connection lost before the reply:
  /// `ServerErrc::connection_loss`.
  virtual void submit(Request request, ReplyHandler handler) = 0;

  /// Ends a watch without an event, and removes it from the server if no other watcher of this
  /// session needs it. A watcher whose request has no reply yet may be given, too. Does nothing if
  /// the watch is over.
  virtual void unwatch(const std::shared_ptr<Watcher>& watcher) = 0;

  /// Ends the session: fails the requests under way (`Errc::closed`), ends all watches, and
  /// notifies the servers, so that they delete its ephemeral nodes at once. Calls `done` when that
  /// message is sent and confirmed, or the grace has passed. Does not block.
  virtual void close(std::chrono::milliseconds grace, std::function<void()> done) = 0;

  /// Takes no new requests: fails those under way (connection_loss), ends all watches
  /// (session_lost), refuses new ones (not_connected). The session itself goes on, with its
  /// ephemeral nodes, until close().
  virtual void retire() = 0;

  /// Gives up the connection, not the session: as a network failure would.
  virtual void disconnect() = 0;

  /// Replaces the servers (host:port,...; validated before). A standing connection stays if its
  /// server is among them.
  virtual void set_servers(std::string servers) = 0;

  /// Replaces the credentials (validated before). New credentials are first tried on another
  /// session; once the servers have accepted them there, they are presented on the present
  /// connection and on every later one. Earlier credentials that are no longer in the list stay
  /// with the session, since they cannot be taken back. If the servers refuse new credentials, the
  /// session goes on: see SessionObserver::on_credentials_refused().
  virtual void set_credentials(std::vector<SessionSettings::Credential> credentials) = 0;

  /// The numbers of operations and watches, for tests that nothing is left over.
  struct Load {
    /// Operations without a reply.
    std::size_t operations = 0;
    /// Watches that are armed, or about to be.
    std::size_t watches = 0;
  };
  /// The present load.
  [[nodiscard]] virtual Load load() const = 0;
};

/// Makes a session on a strand. An observer that is gone is not notified.
using SessionFactory = std::function<std::shared_ptr<Session>(
    boost::asio::any_io_executor strand, SessionSettings settings,
    std::weak_ptr<SessionObserver> observer)>;

/// The session that talks to ZooKeeper servers; the default.
[[nodiscard]] CUSTODIAN_EXPORT std::shared_ptr<Session> make_zookeeper_session(
    boost::asio::any_io_executor strand, SessionSettings settings,
    std::weak_ptr<SessionObserver> observer);

}  // namespace custodian
