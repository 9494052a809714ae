#include "queue/watch_command.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "custodian/mirror/tree_cache.hpp"
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

struct WatchRequest {
  std::string path{};
  std::optional<std::size_t> depth{};
  bool once = false;
  bool json = false;
};

const MirroredNode* node_of(const MirrorChange& change) {
  return change.node ? change.node.get() : change.before.get();
}

std::string line_of(const MirrorChange& change) {
  constexpr std::size_t columns = 200;
  std::string line = plain_time(std::chrono::system_clock::now()) + "  ";
  line += to_string(change.kind);
  const MirroredNode* const node = node_of(change);
  if (node == nullptr) return line;
  line.append("  ").append(printable(node->path));
  if (!change.node) return line;
  if (node->access == MirrorAccess::refused) return line + "  (may not be read)";
  if (!node->data.empty()) line.append("  ").append(shortened(printable(node->data), columns));
  return line;
}

void put_node(Json& into, const MirroredNode& node) {
  if (node.access == MirrorAccess::refused) {
    into["refused"] = true;
  } else if (is_utf8(node.data)) {
    into["data"] = node.data;
  } else {
    into["data"] = nullptr;
    into["data_hex"] = to_hex(node.data);
  }
  into["version"] = node.stat.version;
  into["modified"] = iso_time(node.stat.modified);
  into["session"] = nullptr;
  if (node.stat.ephemeral_owner != 0) into["session"] = session_text(node.stat.ephemeral_owner);
}

Json json_of(const MirrorChange& change) {
  Json json;
  json["at"] = iso_time(std::chrono::system_clock::now());
  json["change"] = to_string(change.kind);
  if (const MirroredNode* const node = node_of(change)) json["path"] = node->path;
  if (change.node) put_node(json, *change.node);
  return json;
}

void print(const WatchRequest& request, const MirrorChange& change) {
  std::cout << (request.json ? to_line(json_of(change)) : line_of(change)) << '\n' << std::flush;
}

/// Reports a lost and a restored connection: the lines about nodes do not show that they may be out
/// of date.
void say_connection(ConnectionState state) {
  if (state == ConnectionState::suspended) {
    say("disconnected: what changes now is not known until there is a connection again");
  } else if (state == ConnectionState::reconnected) {
    say("connected again");
  }
}

int watch(const GlobalOptions& options, const WatchRequest& request) {
  Following following;
  const Client client = connect(options);
  // Without a server that answers, the command fails at the beginning; later it waits for one.
  static_cast<void>(client.exists(request.path));
  MirrorOptions what;
  what.depth = request.depth.value_or(MirrorOptions::unlimited);
  TreeCache mirror{client, request.path, what};
  const Subscription listening = client.on_connection_state(say_connection);
  try {
    while (std::cout) {
      const MirrorChange change = mirror.next(following.stop_token());
      if (request.once && change.kind == MirrorChangeKind::synced) break;
      print(request, change);
    }
  } catch (const Error& error) {
    const bool is_ended = error.code() == boost::asio::error::operation_aborted;
    if (!is_ended) throw;
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_watch_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "watch", "shows the nodes below a path, and each change from now on, a line each");
  command->group(looking_group);
  command->footer(
      "First what is there, as added; then 'synced'; then every change.\n\n"
      "Examples:\n"
      "  custodian watch /settings\n"
      "  custodian watch /members --depth 1 --json");
  const auto request = std::make_shared<WatchRequest>();
  add_path_argument(*command, request->path, "the path of the tree")->required();
  command->add_option("--depth", request->depth, "so many levels below the path; without it all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->add_flag("--once", request->once, "only what is there now");
  command->add_flag("--json", request->json, "each line is JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return watch(options, *request); });
    };
  });
}

}  // namespace custodian::cli
