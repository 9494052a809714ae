#include "acquire/not_acquired.hpp"

namespace custodian {

std::string_view to_string(NotAcquired reason) noexcept {
  switch (reason) {
    case NotAcquired::none: return "acquired";
    case NotAcquired::blocked: return "blocked";
    case NotAcquired::no_answer: return "no answer";
    case NotAcquired::no_connection: return "no connection";
    case NotAcquired::context_not_run: return "context not run";
  }
  return "unknown";
}

namespace recipes_detail {

bool is_lack_of_answer(const error_code& error) noexcept {
  return error == Errc::deadline_exceeded || error == Errc::deadline_exceeded_outcome_unknown ||
         error == Errc::not_connected || error == Errc::session_lost ||
         error == ServerErrc::connection_loss || error == ServerErrc::operation_timeout ||
         error == ServerErrc::throttled;
}

NotAcquired why_not_acquired(bool somebody_ahead, bool connected) noexcept {
  if (somebody_ahead) return NotAcquired::blocked;
  return connected ? NotAcquired::no_answer : NotAcquired::no_connection;
}

error_code error_of(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::node_deleted: return Errc::node_deleted;
    case LossReason::held_too_long: return Errc::lock_lost;
    case LossReason::closed: return Errc::closed;
    default: return Errc::session_lost;
  }
}

std::string explain(NotAcquired reason, const std::optional<Participant>& blocked_by,
                    std::string_view path) {
  const std::string where = path.empty() ? std::string{} : std::string{path} + ": ";
  switch (reason) {
    case NotAcquired::none: return {};
    case NotAcquired::blocked: {
      if (!blocked_by) return where + "somebody else is ahead";
      const std::string who = blocked_by->identity + " (node " + blocked_by->node + ") is ahead";
      return where + who +
             (blocked_by->own
                  ? "; it is another acquire of this client, and if the same task holds "
                    "it, the task waits for itself"
                  : "");
    }
    case NotAcquired::no_answer: return where + "connected, but the servers did not answer in time";
    case NotAcquired::no_connection: return where + "there is no connection to the servers";
    case NotAcquired::context_not_run:
      return where + "no thread runs the client's context, or those that do are busy";
  }
  return {};
}

}  // namespace recipes_detail
}  // namespace custodian
