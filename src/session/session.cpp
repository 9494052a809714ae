#include "custodian/session/session.hpp"

namespace custodian {

bool is_answer_of_server(const error_code& error) noexcept {
  if (!error) return true;
  // Codes above no_node are the C client's own, or come from a server that could not even read the
  // request.
  if (error.category() != server_category() ||
      error.value() > static_cast<int>(ServerErrc::no_node))
    return false;
  switch (static_cast<ServerErrc>(error.value())) {
    case ServerErrc::session_expired:
    case ServerErrc::invalid_callback:
    case ServerErrc::auth_failed:
    case ServerErrc::closing:
    case ServerErrc::session_moved:
    case ServerErrc::not_read_only:
    case ServerErrc::session_closed_require_sasl_auth:
    case ServerErrc::throttled: return false;
    default: return true;
  }
}

bool is_decided_by_quorum(const Request& request) noexcept {
  return std::holds_alternative<request::Create>(request) ||
         std::holds_alternative<request::Remove>(request) ||
         std::holds_alternative<request::Set>(request) ||
         std::holds_alternative<request::Multi>(request);
}

std::string_view to_string(WatchEventType type) noexcept {
  switch (type) {
    case WatchEventType::created: return "created";
    case WatchEventType::deleted: return "deleted";
    case WatchEventType::data_changed: return "data changed";
    case WatchEventType::children_changed: return "children changed";
  }
  return "unknown";
}

}  // namespace custodian
