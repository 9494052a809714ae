#include "queue/looking.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "options/exit_status.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"
#include "run/outcome.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

ExitStatus status_for(const error_code& error) {
  if (error == ErrorCondition::caller_mistake) return ExitStatus::usage;
  if (error == ServerErrc::no_auth || error == ServerErrc::auth_failed) {
    return ExitStatus::no_permission;
  }
  const bool nobody_answered = error == Errc::deadline_exceeded || error == Errc::not_connected ||
                               error == ServerErrc::connection_loss ||
                               error == Errc::deadline_exceeded_outcome_unknown;
  return nobody_answered ? ExitStatus::unavailable : ExitStatus::failure;
}

/// The error's text without the number of its code, which is for programs.
std::string text_of(const Error& error) {
  std::string text = error.what();
  const std::string number = " [" + error.code().to_string() + "]";
  if (text.ends_with(number)) text.erase(text.size() - number.size());
  return printable(text);
}

}  // namespace

Client connect(const GlobalOptions& options, Log log) {
  try {
    ClientOptions of_client = options.client_options();
    // A client without leases needs no lease clock, and may ask for any session timeout.
    of_client.touch_interval = std::min(of_client.touch_interval, of_client.session_timeout / 3);
    // The timeout is long enough for an election among the servers, and short enough for a person
    // who waits.
    of_client.operation_timeout = std::chrono::seconds{10};
    if (log == Log::none) of_client.log = {};
    return Client{std::move(of_client)};
  } catch (const Error& error) {
    throw UsageError{text_of(error)};
  }
}

int with_errors_said(const std::function<int()>& work) {
  try {
    return work();
  } catch (const Error& error) {
    const ExitStatus status = status_for(error.code());
    const bool is_refused =
        status == ExitStatus::unavailable || status == ExitStatus::no_permission;
    say(is_refused ? refusal(printable(error.path()), error.code(), std::nullopt) : text_of(error));
    return to_int(status);
  }
}

}  // namespace custodian::cli
