#pragma once

/// \file
/// Session is one ZooKeeper session as a client sees it: the seam between a `Client` and the wire.
///
/// A `Client` submits `Request`s to a `Session` and is notified of its states. A `Session` is one
/// ZooKeeper session, from its first handshake to its end; the client makes another one when that
/// is over. The session that talks to real servers is the default; another one (an in-memory fake,
/// or a wrapper that injects faults) comes in through `ClientOptions::session_factory`. The seam
/// lies *below* the client's retries: what fails here is retried above.
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
  /// On the strand, once. The type means something only without an error.
  virtual void on_event(error_code error, WatchEventType type) = 0;
};

namespace request {
/// Creates a node.
struct Create {
  /// Where; of a sequential node, what comes before the number.
  std::string path{};
  /// Any bytes.
  std::string data{};
  /// How long the node lives, and whether it is numbered.
  CreateMode mode = CreateMode::persistent;
  /// Its permissions.
  Acl acl{};
  /// For the modes that have one.
  std::chrono::milliseconds ttl{0};
};
/// Deletes a node without children.
struct Remove {
  /// Which.
  std::string path{};
  /// Fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// Reads the metadata of a node that need not be there.
struct Exists {
  /// Which.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok" or "no node"
};
/// Reads a node.
struct Get {
  /// Which.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok"
};
/// Writes a node.
struct Set {
  /// Which.
  std::string path{};
  /// Any bytes.
  std::string data{};
  /// Fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// Lists the names of a node's children.
struct GetChildren {
  /// Of which node.
  std::string path{};
  std::shared_ptr<Watcher> watcher{};  ///< armed if the answer is "ok"
};
/// Reads a node's ACL.
struct GetAcl {
  /// Of which node.
  std::string path{};
};
/// Replaces a node's ACL.
struct SetAcl {
  /// Of which node.
  std::string path{};
  /// The permissions from now on.
  Acl acl{};
  /// Of the ACL: fails with bad_version if it has another.
  std::int32_t version = any_version;
};
/// Waits until the server has caught up with its leader.
struct Sync {
  /// As far as this path goes.
  std::string path{};
};
/// Applies all of these, or none.
struct Multi {
  /// In this order.
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
  BootClock::time_point sent{};  ///< or a little earlier
  /// Or a little later; zero if no server answered.
  BootClock::time_point acknowledged{};
  /// Whether the answer proves that the servers have a quorum.
  bool quorum_result = false;
};

/// Whether a server has processed the request for this result. It has not if the connection failed,
/// or if it refused to work (throttled, session moved or expired, read-only).
[[nodiscard]] CUSTODIAN_EXPORT bool is_answer_of_server(const error_code& error) noexcept;
/// Whether a quorum decides about this kind of request: also if it ends with an error, since that
/// is proposed, too.
[[nodiscard]] CUSTODIAN_EXPORT bool is_decided_by_quorum(const Request& request) noexcept;

/// The answer to any request; which fields count depends on the request.
struct Reply {
  /// None if the request was applied. The rest is then filled in.
  error_code error{};
  std::string path{};                        ///< create
  std::string data{};                        ///< get
  Stat stat{};                               ///< all that have one
  std::vector<std::string> children{};       ///< get_children
  Acl acl{};                                 ///< get_acl
  std::vector<TransactionResult> results{};  ///< multi
  /// When it was sent and answered.
  ReplyProof stamp{};
};

/// Called once, on the strand, with the answer.
using ReplyHandler = boost::asio::any_completion_handler<void(Reply)>;

/// The facts about a session.
struct SessionInfo {
  std::int64_t id = 0;     ///< 0: there is none yet
  std::string password{};  ///< 16 bytes; with the id it *is* the session: keep it to yourself
  std::chrono::milliseconds timeout{0};  ///< as negotiated
  std::uint64_t connection = 0;          ///< the newest connection of the client, counted from 1
  BootClock::time_point handshake{};     ///< when that one's left, or a little earlier
  std::string server{};  ///< "address:port" that it leads to; empty if that is not known
};

/// The state of a session.
enum class SessionState {
  connecting,  ///< no connection (yet, or any more); the session may still be alive
  /// A server answers.
  connected,
  expired,      ///< the servers ended it, or do not continue it; the end
  auth_failed,  ///< the servers refused the credentials; the end
  closed,       ///< by us; the end
};

/// The settings of a session.
struct SessionSettings {
  std::string servers{};  ///< host:port,... without a chroot
  /// The timeout to ask the servers for.
  std::chrono::milliseconds session_timeout{0};
  /// After this long an address that does not answer is given up for the next one.
  std::chrono::milliseconds connect_timeout{0};
  std::uint64_t earlier_connections = 0;  ///< of the client, by its earlier sessions
  /// As `ClientOptions::Credential`.
  struct Credential {
    /// "digest", for one.
    std::string scheme{};
    /// "user:password".
    std::string value{};
    /// Memberwise.
    friend bool operator==(const Credential&, const Credential&) = default;
  };
  /// Presented to every server.
  std::vector<Credential> credentials{};
  /// Bytes of a request that the servers accept; as `ClientOptions::max_request_size`.
  std::size_t max_request_size = 0xfffff;
  /// The clock of its stamps and handshakes, the same as the client's leases have; null: BootClock.
  std::shared_ptr<Clock> clock{};
};

/// Notified of each change of state, in order. When the state has become `connected`, requests that
/// the observer submits within the call travel before all others on that connection.
class CUSTODIAN_EXPORT SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  /// The state has become this, and the session looks like this.
  virtual void on_state(SessionState state, const SessionInfo& info) = 0;
  /// A server has answered a request, whose handler is called next.
  virtual void on_answer(const ReplyProof& stamp) = 0;
  /// A line for the log.
  virtual void on_log(LogLevel level, std::string message) = 0;
  /// The servers refuse the credentials of `Session::set_credentials()`; the session goes on with
  /// these.
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

  /// Ends a watch without an event, and takes it off the server when no other watcher here wants
  /// it. A watcher whose request has no reply yet may be given, too. Does nothing if the watch is
  /// over.
  virtual void unwatch(const std::shared_ptr<Watcher>& watcher) = 0;

  /// Ends the session: fails what is under way (`Errc::closed`), ends all watches, tells the
  /// servers so that ephemeral nodes go at once, and calls back when that is sent and confirmed or
  /// the grace has passed. Does not block.
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

  /// Replaces the credentials (validated before). Those that are new are presented on the standing
  /// connection, once the servers have accepted them elsewhere, and on every later one; those that
  /// are not among them any more stay with the session, for they cannot be taken back. New ones
  /// that the servers refuse do not end the session: see SessionObserver::on_credentials_refused().
  virtual void set_credentials(std::vector<SessionSettings::Credential> credentials) = 0;

  /// Operations without a reply, and watches: for tests that nothing is left over.
  struct Load {
    /// Without a reply.
    std::size_t operations = 0;
    /// Armed, or about to be.
    std::size_t watches = 0;
  };
  /// As of now.
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
