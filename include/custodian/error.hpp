#pragma once

/// \file
/// Error codes and conditions: a code, in one of two categories, says what went wrong; a condition
/// says what to do about it.
///
/// - `ServerErrc` (category "zookeeper") holds the codes that a ZooKeeper server or its C client
///   answers with; the numbers are ZooKeeper's own.
/// - `Errc` (category "custodian") holds the errors that this library finds by itself.
/// - `ErrorCondition` groups both by what a caller should *do*:
///   `if (ec == ErrorCondition::outcome_unknown) ...`.
///
/// Asynchronous operations complete with a `boost::system::error_code`. Blocking functions throw
/// `Error`, which also knows the operation and the path. A cancelled operation reports
/// `boost::asio::error::operation_aborted`. An outcome that a caller must expect, such as a timed
/// acquire that ran out of time, is a value and never an error.
///
/// Threads: everything here is safe to use from any thread.

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "custodian/export.hpp"
namespace custodian {

/// The type of the error that an asynchronous operation completes with.
using boost::system::error_code;

/// Codes of the ZooKeeper protocol (`org.apache.zookeeper.KeeperException.Code`) and its C client.
enum class ServerErrc {
  /// No error.
  ok = 0,
  /// The C client failed. Servers never send this code.
  system_error = -1,
  /// In a transaction: the operation was rolled back, since another one failed. Elsewhere: the C
  /// client has lost track of a request.
  runtime_inconsistency = -2,
  /// The servers found their data inconsistent.
  data_inconsistency = -3,
  /// The connection broke after the request was sent: the outcome is unknown.
  connection_loss = -4,
  /// A request or a reply could not be encoded or decoded.
  marshalling_error = -5,
  /// The server does not know the request, or does not allow the node's mode (a TTL, for instance).
  unimplemented = -6,
  /// The C client received nothing in time: the outcome is unknown.
  operation_timeout = -7,
  /// The server refused the arguments.
  bad_arguments = -8,
  /// The C client's handle is not in a state that allows the request.
  invalid_state = -9,
  /// The node does not exist; for a create: the node's parent does not.
  no_node = -101,
  /// The node's ACL forbids the request.
  no_auth = -102,
  /// The node does not have the required version.
  bad_version = -103,
  /// Ephemeral nodes cannot have children.
  no_children_for_ephemerals = -108,
  /// A node of this name exists already.
  node_exists = -110,
  /// The node has children, so it cannot be deleted.
  not_empty = -111,
  /// The servers have ended the session.
  session_expired = -112,
  /// An error within the C client.
  invalid_callback = -113,
  /// The ACL makes no sense to the server; see creator_all_acl().
  invalid_acl = -114,
  /// The servers refused the credentials.
  auth_failed = -115,
  /// The session is being closed.
  closing = -116,
  /// The session has moved to another server; the request was not applied.
  session_moved = -118,
  /// The server has no quorum, and so accepts no writes.
  not_read_only = -119,
  /// A local session cannot own ephemeral nodes.
  ephemeral_on_local_session = -120,
  /// The watch that should be removed does not exist.
  no_watcher = -121,
  /// The servers accept only clients that authenticate with a required scheme (the servers'
  /// enforce.auth.schemes, or sessionRequireClientSASLAuth), and this client has not done so.
  /// The request was not applied, unless it is a repetition after a lost reply. docs/errors.md has
  /// the cure.
  session_closed_require_sasl_auth = -124,
  /// The server is overloaded, and has not applied the request.
  throttled = -127,
};

/// Errors that this library finds by itself.
enum class Errc {
  /// No error.
  ok = 0,
  /// An argument breaks a rule; the message of the `Error` names the argument and the rule.
  invalid_argument,
  /// There is no connection to a server, and the operation does not wait for one. The operation was
  /// not sent.
  not_connected,
  /// The deadline passed, and nothing was changed: the operation was not sent, or it only reads. An
  /// acquire with this error has no place in the queue; a node that it may have created is deleted.
  deadline_exceeded,
  /// The deadline passed after the operation was sent: it may or may not have been applied.
  deadline_exceeded_outcome_unknown,
  /// The client is closed, or closing and refusing new work.
  closed,
  /// The client was created before a fork(), and cannot be used in the child.
  forked,
  /// The session ended, and with it all its ephemeral nodes, locks and watches.
  session_lost,
  /// An operator, or another client, has deleted this acquire's node in the queue.
  node_deleted,
  /// The lock (or the lease) is not held any more.
  lock_lost,
  /// The sequence counter of the lock's path is at its end: new contenders would have no order. Or
  /// a shared value or an atomic has reached version -1, after 2^32 writes: a write that requires
  /// this version would accept every version.
  sequence_exhausted,
  /// A child looks like a contender but has no sequence number, so it is unknown which contender is
  /// first.
  malformed_contender,
  /// A node's data are not in the form in which this recipe writes them.
  malformed_data,
  /// The call would wait for the very thread that it blocks.
  would_deadlock,
  /// The servers shortened the session timeout so much that a holder could not be notified in time
  /// of a loss. See `ClientOptions::touch_interval`.
  session_timeout_too_short,
  /// The request is larger than the servers accept, and was not sent: the servers would close the
  /// connection, on which all locks depend. See `ClientOptions::max_request_size`.
  request_too_large,
};

/// What to do about an error: compare an error_code with these conditions.
enum class ErrorCondition {
  /// Nothing was changed, and a later try may succeed.
  retryable = 1,
  /// The operation may or may not have been applied: look before repeating it.
  outcome_unknown,
  /// The session is over: its ephemeral nodes, locks and watches are gone. Also the condition of
  /// lock_lost, where only the lock is certainly gone.
  session_over,
  /// The call, or the configuration, is wrong: repeating the call cannot help.
  caller_mistake,
};

/// The category of the codes in ServerErrc; its name is "zookeeper".
[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& server_category() noexcept;
/// The category of the codes in Errc; its name is "custodian".
[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& custodian_category() noexcept;
/// The category of ErrorCondition; its name is "custodian.condition".
[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& condition_category() noexcept;

/// Lets a ServerErrc become an error_code. Found by argument-dependent lookup.
[[nodiscard]] CUSTODIAN_EXPORT error_code make_error_code(ServerErrc code) noexcept;
/// Lets an Errc become an error_code. Found by argument-dependent lookup.
[[nodiscard]] CUSTODIAN_EXPORT error_code make_error_code(Errc code) noexcept;
/// Lets `ec == ErrorCondition::retryable` compile.
[[nodiscard]] CUSTODIAN_EXPORT boost::system::error_condition make_error_condition(
    ErrorCondition condition) noexcept;

/// The exception of blocking functions. Its `what()` reads "operation path (detail): message",
/// followed by the category and the number as Boost writes them: "get /jobs/last: no such node
/// [zookeeper:-101]".
class CUSTODIAN_EXPORT Error : public boost::system::system_error {
 public:
  /// Makes the exception for an error code. `detail` says more about the error.
  Error(error_code code, std::string_view operation, std::string_view path,
        std::string_view detail = {});

  /// The name of the function that was called, such as "create". For a try_..._for(): the name of
  /// the try_..._until() that the function calls.
  [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
  /// The path as the caller gave it; empty if the operation has none. For a transaction: the path
  /// of the operation that was refused.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string operation_;
  std::string path_;
};

}  // namespace custodian

/// \cond
template <>
struct boost::system::is_error_code_enum<custodian::ServerErrc> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<custodian::Errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<custodian::ErrorCondition> : std::true_type {};
/// \endcond
