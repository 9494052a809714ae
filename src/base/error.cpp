#include "custodian/error.hpp"

#include "base/printable.hpp"

namespace custodian {
namespace {

class ServerCategory final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "zookeeper"; }

  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<ServerErrc>(code)) {
      case ServerErrc::ok: return "ok";
      case ServerErrc::system_error: return "system error in the ZooKeeper client";
      case ServerErrc::runtime_inconsistency: return "run-time inconsistency";
      case ServerErrc::data_inconsistency: return "data inconsistency";
      case ServerErrc::connection_loss:
        return "connection lost before the reply; the operation may have been applied";
      case ServerErrc::marshalling_error: return "the request or reply could not be encoded";
      case ServerErrc::unimplemented:
        return "the server does not implement this (TTL nodes need extendedTypesEnabled=true)";
      case ServerErrc::operation_timeout: return "the server did not answer in time";
      case ServerErrc::bad_arguments: return "the server refused the arguments";
      case ServerErrc::invalid_state: return "the session is not in a state for this";
      case ServerErrc::no_node: return "no such node";
      case ServerErrc::no_auth: return "not allowed by the node's ACL";
      case ServerErrc::bad_version: return "the node has another version";
      case ServerErrc::no_children_for_ephemerals: return "ephemeral nodes have no children";
      case ServerErrc::node_exists: return "the node exists already";
      case ServerErrc::not_empty: return "the node has children";
      case ServerErrc::session_expired: return "the session has expired";
      case ServerErrc::invalid_callback: return "invalid callback";
      case ServerErrc::invalid_acl: return "the ACL is invalid";
      case ServerErrc::auth_failed: return "authentication failed";
      case ServerErrc::closing: return "the session is closing";
      case ServerErrc::session_moved: return "the session moved to another server";
      case ServerErrc::not_read_only: return "the server is read-only";
      case ServerErrc::ephemeral_on_local_session:
        return "a local session cannot own ephemeral nodes";
      case ServerErrc::no_watcher: return "there is no such watch";
      case ServerErrc::session_closed_require_sasl_auth:
        return "the servers work only for clients that authenticate with one of their schemes "
               "(enforce.auth.schemes): set ClientOptions::credentials";
      case ServerErrc::throttled: return "the server is overloaded and declined the request";
    }
    return "ZooKeeper error " + std::to_string(code);
  }

  [[nodiscard]] bool equivalent(
      int code, const boost::system::error_condition& condition) const noexcept override {
    if (condition.category() != condition_category()) {
      return error_category::equivalent(code, condition);
    }
    const auto errc = static_cast<ServerErrc>(code);
    switch (static_cast<ErrorCondition>(condition.value())) {
      case ErrorCondition::retryable:
        return errc == ServerErrc::throttled || errc == ServerErrc::session_moved;
      case ErrorCondition::outcome_unknown:
        return errc == ServerErrc::connection_loss || errc == ServerErrc::operation_timeout ||
               errc == ServerErrc::runtime_inconsistency;
      case ErrorCondition::session_over:
        return errc == ServerErrc::session_expired || errc == ServerErrc::auth_failed ||
               errc == ServerErrc::closing;
      case ErrorCondition::caller_mistake:
        return errc == ServerErrc::bad_arguments || errc == ServerErrc::invalid_acl ||
               errc == ServerErrc::no_children_for_ephemerals || errc == ServerErrc::unimplemented;
    }
    return false;
  }
};

class CustodianCategory final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "custodian"; }

  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<Errc>(code)) {
      case Errc::ok: return "ok";
      case Errc::invalid_argument: return "invalid argument";
      case Errc::not_connected:
        return "not connected to a ZooKeeper server, or not yet (wait_connected() waits for it); "
               "nothing was sent";
      case Errc::deadline_exceeded:
        return "the deadline passed before an answer came; nothing was changed, or what was "
               "created is deleted";
      case Errc::deadline_exceeded_outcome_unknown:
        return "the deadline passed before the reply; the operation may have been applied";
      case Errc::closed: return "the client is closed";
      case Errc::forked: return "the client belongs to the parent process; create one after fork()";
      case Errc::session_lost: return "the session ended, and its locks and watches with it";
      case Errc::node_deleted: return "the contender's own node was deleted by somebody else";
      case Errc::lock_lost: return "the lock is not held any more";
      case Errc::sequence_exhausted:
        return "a counter of the node is at its end: for a lock use a new path; a value whose "
               "version is -1 goes on after a store()";
      case Errc::malformed_contender:
        return "a child looks like a contender but bears no sequence number; remove it";
      case Errc::malformed_data:
        return "the node's data is not what this recipe writes; is the path another's?";
      case Errc::would_deadlock: return "the call would wait for its own thread";
      case Errc::session_timeout_too_short:
        return "the servers' session timeout is less than three touch intervals, too short for "
               "locks; raise their maxSessionTimeout, or lower their tickTime and touch_interval";
      case Errc::request_too_large:
        return "the request is larger than the servers accept (ClientOptions::max_request_size); "
               "it was not sent";
    }
    return "custodian error " + std::to_string(code);
  }

  [[nodiscard]] bool equivalent(
      int code, const boost::system::error_condition& condition) const noexcept override {
    if (condition.category() != condition_category()) {
      return error_category::equivalent(code, condition);
    }
    const auto errc = static_cast<Errc>(code);
    switch (static_cast<ErrorCondition>(condition.value())) {
      case ErrorCondition::retryable:
        return errc == Errc::not_connected || errc == Errc::deadline_exceeded;
      case ErrorCondition::outcome_unknown: return errc == Errc::deadline_exceeded_outcome_unknown;
      case ErrorCondition::session_over:
        return errc == Errc::session_lost || errc == Errc::closed || errc == Errc::lock_lost;
      case ErrorCondition::caller_mistake:
        return errc == Errc::invalid_argument || errc == Errc::forked ||
               errc == Errc::would_deadlock || errc == Errc::session_timeout_too_short ||
               errc == Errc::request_too_large;
    }
    return false;
  }
};

class ConditionCategory final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "custodian.condition"; }

  [[nodiscard]] std::string message(int condition) const override {
    switch (static_cast<ErrorCondition>(condition)) {
      case ErrorCondition::retryable: return "nothing changed; may be tried again";
      case ErrorCondition::outcome_unknown: return "may or may not have been applied";
      case ErrorCondition::session_over: return "the session is over";
      case ErrorCondition::caller_mistake: return "the call itself is wrong";
    }
    return "unknown condition";
  }
};

std::string describe(std::string_view operation, std::string_view path, std::string_view detail) {
  std::string text{operation};
  if (!path.empty()) {
    text.append(" ").append(detail::printable(detail::shortened(path)));
  }
  if (!detail.empty()) {
    // The detail is escaped: it may contain text of other clients, such as the identity of the
    // contender ahead.
    text.append(" (").append(detail::in_one_line(detail)).append(")");
  }
  return text;
}

}  // namespace

const boost::system::error_category& server_category() noexcept {
  static const ServerCategory category;
  return category;
}

const boost::system::error_category& custodian_category() noexcept {
  static const CustodianCategory category;
  return category;
}

const boost::system::error_category& condition_category() noexcept {
  static const ConditionCategory category;
  return category;
}

error_code make_error_code(ServerErrc code) noexcept {
  return {static_cast<int>(code), server_category()};
}

error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), custodian_category()};
}

boost::system::error_condition make_error_condition(ErrorCondition condition) noexcept {
  return {static_cast<int>(condition), condition_category()};
}

Error::Error(error_code code, std::string_view operation, std::string_view path,
             std::string_view detail)
    : system_error{code, describe(operation, path, detail)}, operation_{operation}, path_{path} {}

}  // namespace custodian
