#include "queue/inspect_command.hpp"

#include <iostream>
#include <memory>

#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "queue/looking.hpp"
#include "queue/queue_view.hpp"
#include "queue/queue_watch.hpp"
#include "servers/session_addresses.hpp"

namespace custodian::cli {
namespace {

int look_once(const GlobalOptions& options, const InspectRequest& request) {
  const Client client = connect(options);
  SessionAddresses addresses{options.servers, request.admin_port, options.client_options().tls};
  QueueView view = view_of(request, inspect(client, request.path, request.options),
                           request.without_addresses ? nullptr : &addresses);
  view.around = look_around(client, request.path, view.inspection);
  if (request.json) {
    std::cout << to_line(json_of(view)) << '\n';
  } else {
    for (const std::string& line : lines_of(view, view.at)) std::cout << line << '\n';
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_inspect_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("inspect", "shows who holds and who waits at a path, in order");
  command->group(looking_group);
  command->footer(
      "Shows any lock, semaphore or election of this library, of Apache Curator or of kazoo.\n"
      "Where nobody is, it says whether the path exists, and which locks are right below it.\n\n"
      "Examples:\n"
      "  custodian inspect /locks/backup\n"
      "  custodian inspect /locks/backup --watch");
  const auto request = std::make_shared<InspectRequest>();
  add_path_argument(*command, request->path, "the path that the lock was given")->required();
  command->add_flag("--watch", request->watch, "go on, and show it again as it changes");
  command->add_flag("--json", request->json, "one line of JSON; with --watch one for each change");
  command
      ->add_option("--permits", request->options.permits,
                   "how many permits the semaphore has, to tell who has one from who is about to")
      ->type_name("N");
  command->add_flag("--no-addresses", request->without_addresses,
                    "do not ask the servers for the clients' addresses");
  command
      ->add_option("--admin-port", request->admin_port,
                   "of the servers' admin server, asked in plain HTTP where the word cons is not "
                   "allowed (8080, but none with TLS; 0: never)")
      ->type_name("PORT");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] {
        return request->watch ? watch_queue(options, *request) : look_once(options, *request);
      });
    };
  });
}

}  // namespace custodian::cli
