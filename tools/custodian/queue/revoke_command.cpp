#include "queue/revoke_command.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "custodian/inspect/revoke.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "options/usage_error.hpp"
#include "queue/contender_choice.hpp"
#include "queue/looking.hpp"
#include "queue/queue_view.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

struct RevokeRequest {
  std::string path{};
  std::string node{};
  bool json = false;
};

std::vector<Inspected> whom_to_ask(const Inspection& seen, const RevokeRequest& request) {
  if (request.node.empty()) return holders_of(seen);
  const auto one = find_contender(seen, request.path, request.node);
  if (!one) {
    throw UsageError{"nobody stands at " + printable(request.path) + " with the node " +
                     printable(request.node) + "; custodian inspect shows who does"};
  }
  return {*one};
}

int ask_to_let_go(const GlobalOptions& options, const RevokeRequest& request) {
  const Client client = connect(options);
  std::vector<Inspected> asked = whom_to_ask(inspect(client, request.path), request);
  std::erase_if(asked,
                [&](const Inspected& each) { return !revoke(client, each.participant.node); });

  const auto now = std::chrono::system_clock::now();
  if (request.json) {
    Json json{{"path", request.path}, {"asked", Json::array()}};
    for (const Inspected& each : asked) {
      Json one;
      put_participant(one, each.participant);
      json["asked"].push_back(std::move(one));
    }
    std::cout << to_line(json) << '\n';
    return to_int(ExitStatus::ok);
  }
  for (const Inspected& each : asked) {
    std::cout << "asked to let go: " << description_of(each, now) << ", node "
              << printable(each.participant.node) << '\n';
  }
  if (asked.empty()) {
    std::cout << "nobody holds " << printable(request.path) << ": nobody was asked\n";
  } else {
    std::cout << "whether it does is its own decision: custodian inspect tells\n";
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_revoke_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("revoke", "asks whoever holds a lock to let go");
  command->group(looking_group);
  command->footer(
      "As Apache Curator's Revoker does. Holders who do not listen are not disturbed.\n\n"
      "Example:\n"
      "  custodian revoke /locks/backup");
  const auto request = std::make_shared<RevokeRequest>();
  add_path_argument(*command, request->path, "the path that the lock was given")->required();
  command
      ->add_option("--node", request->node,
                   "ask only this one, holder or not, by its node as inspect shows it")
      ->type_name("NODE");
  command->add_flag("--json", request->json, "who was asked, as a line of JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return ask_to_let_go(options, *request); });
    };
  });
}

}  // namespace custodian::cli
