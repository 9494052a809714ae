// custodian: locks, semaphores and leadership for shells and people.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barriers/barrier_command.hpp"
#include "barriers/latch_command.hpp"
#include "counters/counter_command.hpp"
#include "custodian/error.hpp"
#include "custodian/version.hpp"
#include "discovery/discover_command.hpp"
#include "doctor/doctor_command.hpp"
#include "options/command_line.hpp"
#include "options/exit_status.hpp"
#include "options/global_options.hpp"
#include "options/help_formatter.hpp"
#include "options/invocation.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"
#include "periodic/once_command.hpp"
#include "queue/break_command.hpp"
#include "queue/inspect_command.hpp"
#include "queue/list_command.hpp"
#include "queue/members_command.hpp"
#include "queue/observe_command.hpp"
#include "queue/revoke_command.hpp"
#include "queue/watch_command.hpp"
#include "run/elect_command.hpp"
#include "run/lock_command.hpp"
#include "run/member_command.hpp"
#include "run/outcome.hpp"
#include "run/semaphore_command.hpp"
#include "serve/serve_command.hpp"
#include "text/printable_text.hpp"

namespace {

using namespace custodian::cli;

/// Opens /dev/null for each standard descriptor that is closed. Otherwise a file of this program
/// would get its number, and the command would inherit that file.
void fill_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2;) {
    descriptor = open("/dev/null", O_RDWR);
    if (descriptor < 0) std::_Exit(to_int(ExitStatus::failure));
    if (descriptor > 2) close(descriptor);
  }
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  if (const auto unknown = app.remaining(); app.get_subcommands().empty() && !unknown.empty()) {
    say("there is no command '" + printable(unknown.front()) + "'; see custodian --help");
    return to_int(ExitStatus::usage);
  }
  std::string where = app.get_name();
  for (const CLI::App* chosen : app.get_subcommands()) where += " " + chosen->get_name();
  const bool may_be_command =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
      !app.get_subcommands().empty() && app.get_subcommands().front()->get_group() == running_group;
  say(error.what() + std::string{may_be_command ? "; a command stands behind --" : ""} + "; see " +
      where + " --help");
  return to_int(ExitStatus::usage);
}

int run(int argc, char* argv[]) {
  CommandLine line = split_command_line({argv + std::min(argc, 1), argv + argc});
  GlobalOptions options;
  Invocation invocation;
  invocation.command = std::move(line.command);

  CLI::App app{"Locks, semaphores and leadership by ZooKeeper, for shells and people.",
               "custodian"};
  app.set_version_flag("--version", std::string{custodian::version()});
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.fallthrough();
  add_global_options(app, options);
  add_lock_command(app, invocation);
  add_semaphore_command(app, invocation);
  add_elect_command(app, invocation);
  add_once_command(app, invocation);
  add_member_command(app, invocation);
  add_barrier_command(app, invocation);
  add_latch_command(app, invocation);
  add_counter_command(app, invocation);
  add_observe_command(app, invocation);
  add_watch_command(app, invocation);
  add_members_command(app, invocation);
  add_discover_command(app, invocation);
  add_list_command(app, invocation);
  add_inspect_command(app, invocation);
  add_revoke_command(app, invocation);
  add_break_command(app, invocation);
  add_doctor_command(app, invocation);
  add_serve_command(app, invocation);
  try {
    // CLI11 takes the words from the last to the first.
    std::reverse(line.ours.begin(), line.ours.end());
    app.parse(std::move(line.ours));
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  if (invocation.command && !invocation.takes_command) {
    throw UsageError{"this command runs no other: what is behind -- has no meaning"};
  }
  if (invocation.takes_command && (!invocation.command || invocation.command->empty())) {
    throw UsageError{
        "which command shall be run? It stands behind --: custodian ... -- COMMAND..."};
  }
  return invocation.run(options);
}

}  // namespace

int main(int argc, char* argv[]) {
  fill_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    say(error.what());
    return to_int(ExitStatus::usage);
  } catch (const custodian::Error& error) {
    say(error.what());
    return to_int(status_of(error.code()));
  } catch (const std::exception& error) {
    say(error.what());
    return to_int(ExitStatus::failure);
  }
}
