#include "run/run_options.hpp"

#include <utility>
#include <vector>

#include "options/choice_option.hpp"
#include "options/duration_option.hpp"
#include "options/path_argument.hpp"

namespace custodian::cli {

void add_path(CLI::App& subcommand, RunOptions& options, const std::string& description) {
  add_path_argument(subcommand, options.path, description)->required();
}

void add_wait_options(CLI::App& subcommand, RunOptions& options) {
  CLI::Option* wait = add_duration_option(
      subcommand, "--wait", options.wait,
      "how long to wait for it, and for the servers (default: as long as it takes)");
  subcommand
      .add_flag_callback(
          "--no-wait", [&options] { options.wait = std::chrono::nanoseconds::zero(); },
          "only take it if it is free, as --wait 0s does")
      ->excludes(wait);
}

void add_hold_at_most_option(CLI::App& subcommand, RunOptions& options) {
  add_positive_duration_option(
      subcommand, "--hold-at-most", options.hold_at_most,
      "it passes on after so long, and counts as lost (default: no limit)");
}

void add_hold_at_least_option(CLI::App& subcommand, RunOptions& options) {
  add_positive_duration_option(
      subcommand, "--hold-at-least", options.hold_at_least,
      "it is held so long from its grant, even if the command has ended before, so that a host "
      "whose clock strikes later finds it taken; SIGTERM and SIGINT end the wait (default: no "
      "longer than the command)");
}

void check_hold_times(const RunOptions& options) {
  if (options.hold_at_least && options.hold_at_most &&
      *options.hold_at_least > *options.hold_at_most) {
    throw CLI::ValidationError{"--hold-at-least", "is longer than --hold-at-most"};
  }
}

void add_identity_option(CLI::App& subcommand, RunOptions& options) {
  subcommand
      .add_option("--identity", options.identity,
                  "what others see of who holds it or waits (default: host/process id)")
      ->type_name("TEXT");
}

void add_on_lost_option(CLI::App& subcommand, RunOptions& options, MayIgnoreLoss may_ignore) {
  std::vector<std::pair<std::string, OnLost>> words{{"terminate", OnLost::terminate},
                                                    {"kill", OnLost::kill}};
  std::string description =
      "what becomes of the command when it is lost: terminate (SIGTERM, and SIGKILL after 8 % of "
      "the session timeout at most), kill";
  if (may_ignore == MayIgnoreLoss::yes) {
    words.emplace_back("ignore", OnLost::ignore);
    description += ", ignore";
  }
  description += " (default: terminate)";
  add_choice(subcommand, "--on-lost", options.on_lost, words, description);
}

void add_on_revoke_option(CLI::App& subcommand, RunOptions& options) {
  add_choice(subcommand, "--on-revoke", options.on_revoke,
             {{"ignore", OnRevoke::ignore}, {"terminate", OnRevoke::terminate}},
             "what becomes of the command when somebody asks for the lock (custodian revoke): "
             "ignore, terminate (SIGTERM, once; the lock is released when the command has ended) "
             "(default: ignore)");
}

void add_session_options(CLI::App& subcommand, RunOptions& options) {
  add_acl_option(subcommand, options.acl);
  add_duration_option(subcommand, "--touch-interval", options.touch_interval,
                      "how often the servers hear of us at the least; three quarters of their "
                      "tick, and a third of the session timeout at the most (1500ms)");
}

void add_service_option(CLI::App& subcommand, RunOptions& options, const std::string& when) {
  subcommand.add_flag("--notify-systemd", options.service.notifies,
                      "for a service of Type=notify, which is ready " + when +
                          "; systemctl status shows what it waits for");
}

std::string run_footer(const std::string& example) {
  return "Example:\n  " + example +
         "\n\n"
         "The command's environment has CUSTODIAN_LOCK_PATH, CUSTODIAN_LOCK_NODE and\n"
         "CUSTODIAN_FENCING_TOKEN. Signals are passed on to it. It is released when the command "
         "has\n"
         "ended, and all that it started: a process that is left in the background is waited "
         "for.\n\n"
         "Exit status: the command's own, 128+n if signal n ended it; or, with a line on the\n"
         "standard error output that begins with \"custodian: \",\n"
         "  64  the command line is wrong\n"
         "  69  no server answered in time\n"
         "  70  lost, and the command was ended for it\n"
         "  75  queued, but not had in time\n"
         "  77  the servers do not permit it\n"
         "  126, 127  the command cannot be run, is not found";
}

}  // namespace custodian::cli
