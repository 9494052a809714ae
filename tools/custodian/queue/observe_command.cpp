#include "queue/observe_command.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "custodian/leader/leader_observer.hpp"
#include "options/exit_status.hpp"
#include "options/messages.hpp"
#include "options/path_argument.hpp"
#include "queue/following.hpp"
#include "queue/looking.hpp"
#include "text/json_text.hpp"
#include "text/printable_text.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

struct ObserveRequest {
  std::string path{};
  bool once = false;
  bool json = false;
};

std::string line_of(const std::optional<Participant>& leader) {
  const auto now = std::chrono::system_clock::now();
  if (!leader) return plain_time(now) + "  nobody leads";
  std::string line = plain_time(now) + "  " + printable(leader->identity) + " leads, session ";
  line += session_text(leader->session) + ", token " + to_string(leader->token);
  return line + ", node " + printable(leader->node);
}

Json json_of(const ObserveRequest& request, const std::optional<Participant>& leader) {
  Json json;
  json["path"] = request.path;
  json["at"] = iso_time(std::chrono::system_clock::now());
  json["leader"] = nullptr;
  if (leader) put_participant(json["leader"] = Json::object(), *leader);
  return json;
}

void print(const ObserveRequest& request, const std::optional<Participant>& leader) {
  std::cout << (request.json ? to_line(json_of(request, leader)) : line_of(leader)) << '\n'
            << std::flush;
}

/// Reports a lost and a restored connection: the lines about leaders do not show that they may be
/// out of date.
void say_connection(ConnectionState state) {
  if (state == ConnectionState::suspended) {
    say("disconnected: who leads now is not known until there is a connection again");
  } else if (state == ConnectionState::reconnected) {
    say("connected again");
  }
}

int observe(const GlobalOptions& options, const ObserveRequest& request) {
  Following following;
  Client client = connect(options);
  LeaderObserver observer{client, request.path};
  // Without a server that answers, the command fails at the beginning; later it waits for one.
  const std::optional<Participant> now = observer.leader();
  if (request.once) {
    print(request, now);
    return to_int(ExitStatus::ok);
  }
  const Subscription listening = client.on_connection_state(say_connection);
  try {
    while (std::cout) print(request, observer.next(following.stop_token()));
  } catch (const Error& error) {
    const bool is_ended = error.code() == boost::asio::error::operation_aborted;
    if (!is_ended) throw;
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_observe_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("observe", "shows who leads, now and from now on: a line for each change");
  command->group(looking_group);
  command->footer(
      "Takes no part in the election.\n\n"
      "Example:\n"
      "  custodian observe /leaders/scheduler");
  const auto request = std::make_shared<ObserveRequest>();
  add_path_argument(*command, request->path, "the path of the election")->required();
  command->add_flag("--once", request->once, "only who leads now");
  command->add_flag("--json", request->json, "each line is JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return observe(options, *request); });
    };
  });
}

}  // namespace custodian::cli
