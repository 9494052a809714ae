#include "metric_labels.hpp"

namespace custodian::prometheus_detail {

namespace {

std::string_view name_of(ServerErrc code) noexcept {
  switch (code) {
    case ServerErrc::ok: return "ok";
    case ServerErrc::system_error: return "system_error";
    case ServerErrc::runtime_inconsistency: return "runtime_inconsistency";
    case ServerErrc::data_inconsistency: return "data_inconsistency";
    case ServerErrc::connection_loss: return "connection_loss";
    case ServerErrc::marshalling_error: return "marshalling_error";
    case ServerErrc::unimplemented: return "unimplemented";
    case ServerErrc::operation_timeout: return "operation_timeout";
    case ServerErrc::bad_arguments: return "bad_arguments";
    case ServerErrc::invalid_state: return "invalid_state";
    case ServerErrc::no_node: return "no_node";
    case ServerErrc::no_auth: return "no_auth";
    case ServerErrc::bad_version: return "bad_version";
    case ServerErrc::no_children_for_ephemerals: return "no_children_for_ephemerals";
    case ServerErrc::node_exists: return "node_exists";
    case ServerErrc::not_empty: return "not_empty";
    case ServerErrc::session_expired: return "session_expired";
    case ServerErrc::invalid_callback: return "invalid_callback";
    case ServerErrc::invalid_acl: return "invalid_acl";
    case ServerErrc::auth_failed: return "auth_failed";
    case ServerErrc::closing: return "closing";
    case ServerErrc::session_moved: return "session_moved";
    case ServerErrc::not_read_only: return "not_read_only";
    case ServerErrc::ephemeral_on_local_session: return "ephemeral_on_local_session";
    case ServerErrc::no_watcher: return "no_watcher";
    case ServerErrc::session_closed_require_sasl_auth: return "session_closed_require_sasl_auth";
    case ServerErrc::throttled: return "throttled";
  }
  return {};
}

std::string_view name_of(Errc code) noexcept {
  switch (code) {
    case Errc::ok: return "ok";
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::not_connected: return "not_connected";
    case Errc::deadline_exceeded: return "deadline_exceeded";
    case Errc::deadline_exceeded_outcome_unknown: return "deadline_exceeded_outcome_unknown";
    case Errc::closed: return "closed";
    case Errc::forked: return "forked";
    case Errc::session_lost: return "session_lost";
    case Errc::node_deleted: return "node_deleted";
    case Errc::lock_lost: return "lock_lost";
    case Errc::sequence_exhausted: return "sequence_exhausted";
    case Errc::malformed_contender: return "malformed_contender";
    case Errc::malformed_data: return "malformed_data";
    case Errc::would_deadlock: return "would_deadlock";
    case Errc::session_timeout_too_short: return "session_timeout_too_short";
    case Errc::request_too_large: return "request_too_large";
  }
  return {};
}

std::string_view name_of(const error_code& error) noexcept {
  if (error.category() == server_category()) return name_of(static_cast<ServerErrc>(error.value()));
  if (error.category() == custodian_category()) return name_of(static_cast<Errc>(error.value()));
  return {};
}

}  // namespace

std::string_view label_of(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::none: return "none";
    case LossReason::lease_expired: return "lease_expired";
    case LossReason::session_over: return "session_over";
    case LossReason::node_deleted: return "node_deleted";
    case LossReason::suspended: return "suspended";
    case LossReason::held_too_long: return "held_too_long";
    case LossReason::closed: return "closed";
  }
  return "unknown";
}

std::string label_of(const error_code& error) {
  const std::string_view name = name_of(error);
  if (!name.empty()) return std::string{name};
  return std::string{error.category().name()} + "_" + std::to_string(error.value());
}

}  // namespace custodian::prometheus_detail
