#include "barriers/limited_wait.hpp"

#include "options/duration_option.hpp"
#include "options/exit_status.hpp"
#include "options/messages.hpp"

namespace custodian::cli {

void add_wait_option(CLI::App& command, std::optional<std::chrono::nanoseconds>& wait) {
  add_duration_option(command, "--wait", wait,
                      "how long to wait, for the servers, too; 0s asks once (default: as long as "
                      "it takes)");
}

int wait_for(const Client& client, const Awaited& awaited,
             const std::optional<std::chrono::nanoseconds>& limit) {
  if (!limit) {
    awaited.wait();
    return to_int(ExitStatus::ok);
  }
  const bool asks_once = *limit == std::chrono::nanoseconds::zero();
  if (asks_once ? awaited.is_over() : awaited.wait_for(*limit)) return to_int(ExitStatus::ok);
  if (!is_connected(client.connection_state())) {
    say("no server answers; " + awaited.when_late + ", perhaps");
    return to_int(ExitStatus::unavailable);
  }
  say(awaited.when_late);
  return to_int(ExitStatus::not_acquired);
}

}  // namespace custodian::cli
