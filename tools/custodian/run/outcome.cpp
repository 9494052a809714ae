#include "run/outcome.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "text/printable_text.hpp"

namespace custodian::cli {

ExitStatus status_of(const error_code& error) noexcept {
  if (!error) return ExitStatus::not_acquired;
  if (error == Errc::not_connected || error == Errc::deadline_exceeded ||
      error == Errc::deadline_exceeded_outcome_unknown || error == ServerErrc::connection_loss ||
      error == ServerErrc::operation_timeout) {
    return ExitStatus::unavailable;
  }
  if (error == ServerErrc::no_auth || error == ServerErrc::auth_failed ||
      error == ServerErrc::session_closed_require_sasl_auth || error == ServerErrc::invalid_acl) {
    return ExitStatus::no_permission;
  }
  if (error == Errc::invalid_argument || error == Errc::session_timeout_too_short ||
      error == Errc::request_too_large) {
    return ExitStatus::usage;
  }
  if (error == Errc::node_deleted || error == Errc::session_lost) return ExitStatus::not_acquired;
  return ExitStatus::failure;
}

error_code error_of(NotAcquired reason) noexcept {
  switch (reason) {
    case NotAcquired::none:
    case NotAcquired::blocked: break;
    case NotAcquired::no_connection: return Errc::not_connected;
    case NotAcquired::no_answer:
    case NotAcquired::context_not_run: return Errc::deadline_exceeded;
  }
  return {};
}

std::string refusal(const std::string& what, const error_code& error,
                    const std::optional<Participant>& blocked_by) {
  switch (status_of(error)) {
    case ExitStatus::unavailable:
      return "no server answered in time (" + error.message() +
             "): are they running, and is the list of servers right?";
    case ExitStatus::no_permission:
      return "the servers do not permit it (" + error.message() +
             "): is --auth right, and what is the ACL of " + what + "?";
    default: break;
  }
  if (error) return what + ": " + error.message();
  std::string text = what + " was not had in time";
  if (blocked_by) {
    text +=
        ": ahead is " + printable(blocked_by->identity) + " (" + printable(blocked_by->node) + ")";
  }
  return text;
}

std::string left_behind(const std::string& what, const std::vector<pid_t>& processes) {
  std::string left;
  for (const pid_t process : processes) {
    left += (left.empty() ? "" : ", ") + std::to_string(process);
  }
  return "the command has ended, but not all that it has started (" + left + "): " + what +
         " is held until that has, too";
}

std::vector<std::string> environment_of(const std::string& path, const Lease& lease) {
  return {"CUSTODIAN_LOCK_PATH=" + path, "CUSTODIAN_LOCK_NODE=" + lease.node(),
          "CUSTODIAN_FENCING_TOKEN=" + to_string(lease.token())};
}

std::chrono::nanoseconds grace_after_loss(
    OnLost on_lost, std::chrono::nanoseconds session_timeout,
    const std::optional<std::chrono::nanoseconds>& hold_at_most) {
  if (on_lost == OnLost::kill) return std::chrono::nanoseconds{0};
  std::chrono::nanoseconds margin = session_timeout / 10;
  if (hold_at_most) margin = std::min<std::chrono::nanoseconds>(margin, std::chrono::seconds{1});
  return margin * 4 / 5;
}

}  // namespace custodian::cli
