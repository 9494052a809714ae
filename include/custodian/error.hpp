#pragma once

/// \file
/// Errors: what went wrong, in one of two categories, and what to do about it, as conditions.
///
/// - `ServerErrc` (category "zookeeper") holds the codes that a ZooKeeper server or its C client
///   answers with; the numbers are ZooKeeper's own.
/// - `Errc` (category "custodian") holds what this library decides by itself.
/// - `ErrorCondition` groups both by what a caller should *do*:
///   `if (ec == ErrorCondition::outcome_unknown) ...`.
///
/// Asynchronous operations complete with a `boost::system::error_code`. Blocking functions throw
/// `Error`, which also knows the operation and the path. A cancelled operation reports
/// `boost::asio::error::operation_aborted`. What a caller expects (a timed acquire that came late)
/// is a value and never an error.
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

using boost::system::error_code;

/// Codes of the ZooKeeper protocol (`org.apache.zookeeper.KeeperException.Code`) and its C client.
enum class ServerErrc {
  ok = 0,
  system_error = -1,
  runtime_inconsistency = -2,
  data_inconsistency = -3,
  connection_loss = -4,
  marshalling_error = -5,
  unimplemented = -6,
  operation_timeout = -7,
  bad_arguments = -8,
  invalid_state = -9,
  no_node = -101,
  no_auth = -102,
  bad_version = -103,
  no_children_for_ephemerals = -108,
  node_exists = -110,
  not_empty = -111,
  session_expired = -112,
  invalid_callback = -113,
  invalid_acl = -114,
  auth_failed = -115,
  closing = -116,
  session_moved = -118,
  not_read_only = -119,
  ephemeral_on_local_session = -120,
  no_watcher = -121,
  session_closed_require_sasl_auth = -124,
  throttled = -127,
};

/// What this library decides by itself.
enum class Errc {
  ok = 0,
  /// An argument breaks a rule; the message of the `Error` names both.
  invalid_argument,
  /// There is no connection to a server, and the operation was told not to wait for one. It was
  /// not sent.
  not_connected,
  /// The deadline passed before the operation was sent, so it has had no effect.
  deadline_exceeded,
  /// The deadline passed after the operation was sent: it may or may not have been applied.
  deadline_exceeded_outcome_unknown,
  /// The client is closed, or closing and refusing new work.
  closed,
  /// The client was created before a fork() and is used in the child, which it cannot be.
  forked,
  /// The session ended, and with it every ephemeral node, lock and watch that it had.
  session_lost,
  /// A node that this acquire stood in the queue with was deleted by somebody else.
  node_deleted,
  /// The lock (or the lease) is not held any more.
  lock_lost,
  /// The sequence counter of the lock's parent node is at its end: no order can be told any more.
  sequence_exhausted,
  /// A child looks like a contender but has no sequence number, so nobody can tell who is first.
  malformed_contender,
  /// A node's data is not what this recipe writes there.
  malformed_data,
  /// The call would block one of the threads that it waits for.
  would_deadlock,
  /// The servers shortened the session timeout so much that a holder could not be told in time that
  /// it has lost its lock. See `ClientOptions::touch_interval`.
  session_timeout_too_short,
};

/// What to do about an error; compare an error_code with these.
enum class ErrorCondition {
  /// Nothing was changed and a later try may succeed.
  retryable = 1,
  /// The operation may or may not have been applied: look before repeating it.
  outcome_unknown,
  /// The session is over: its ephemeral nodes, locks and watches are gone.
  session_over,
  /// The call itself is wrong; repeating it cannot help.
  caller_mistake,
};

[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& server_category() noexcept;
[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& custodian_category() noexcept;
[[nodiscard]] CUSTODIAN_EXPORT const boost::system::error_category& condition_category() noexcept;

[[nodiscard]] CUSTODIAN_EXPORT error_code make_error_code(ServerErrc code) noexcept;
[[nodiscard]] CUSTODIAN_EXPORT error_code make_error_code(Errc code) noexcept;
[[nodiscard]] CUSTODIAN_EXPORT boost::system::error_condition make_error_condition(
    ErrorCondition condition) noexcept;

/// Thrown by blocking functions. Its `what()` reads "operation path: message (detail)".
class CUSTODIAN_EXPORT Error : public boost::system::system_error {
 public:
  Error(error_code code, std::string_view operation, std::string_view path,
        std::string_view detail = {});

  /// The operation as it was called, "create" for one.
  [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
  /// The path as the caller gave it; empty if the operation has none.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string operation_;
  std::string path_;
};

}  // namespace custodian

template <>
struct boost::system::is_error_code_enum<custodian::ServerErrc> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<custodian::Errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<custodian::ErrorCondition> : std::true_type {};
