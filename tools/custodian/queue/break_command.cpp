#include "queue/break_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "options/exit_status.hpp"
#include "options/messages.hpp"
#include "options/path_argument.hpp"
#include "options/usage_error.hpp"
#include "queue/contender_choice.hpp"
#include "queue/looking.hpp"
#include "queue/queue_view.hpp"
#include "queue/surroundings.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

struct BreakRequest {
  std::string path{};
  std::string node{};
  std::string session{};
  bool yes = false;
  bool json = false;
};

/// Prints a contender on two lines, since the path of its node is long.
void say_who(const char* what, const Inspected& who) {
  std::cerr << what << ": " << description_of(who, std::chrono::system_clock::now()) << "\n  "
            << printable(who.participant.node) << '\n';
}

void warn(const Inspection& seen, const Inspected& loser) {
  say_who("To be broken", loser);
  std::cerr << '\n';
  if (loser.standing == Standing::waits) {
    std::cerr << "It waits. Whoever it is loses the place in the queue, and is told so.\n";
  } else {
    std::cerr << "This does not stop its process. Until it is told, by its next beat at the "
                 "latest, or for as\n"
                 "long as it is paused, it goes on as if it held the lock, beside the next one. "
                 "End the process\n"
                 "first if you can. Only what checks the fencing token is safe from both.\n";
    for (const Inspected& heir : heirs_of(seen, loser)) say_who("Next", heir);
  }
  std::cerr << std::flush;
}

bool is_confirmed() {
  std::cerr << "\nType yes to delete its node: " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

enum class Ending { deleted, gone_by_itself, changed };

/// Deletes the node if it still has this version. After a lost reply it tries again.
Ending delete_as_seen(Client& client, const std::string& node, std::int32_t version) {
  for (bool tried = false;; tried = true) {
    try {
      client.remove(node, {.version = version});
      return Ending::deleted;
    } catch (const Error& error) {
      if (error.code() == ServerErrc::bad_version) return Ending::changed;
      // After a lost reply, a missing node was deleted by the first try or by somebody else. The
      // difference does not matter.
      if (error.code() == ServerErrc::no_node) {
        return tried ? Ending::deleted : Ending::gone_by_itself;
      }
      if (error.code() != ServerErrc::connection_loss) throw;
    }
  }
}

/// Throws UsageError if --yes was not given, and there is no terminal to ask on.
void require_terminal_or_yes(const BreakRequest& request) {
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!request.yes && !can_ask) {
    throw UsageError{"there is no terminal to ask on: --yes says that you are certain"};
  }
}

/// A contender of the session, with the version of its node that was shown.
struct Place {
  Inspected who{};
  std::int32_t version = 0;
};

/// The most children that are read: each costs a request or more.
constexpr std::size_t most_children = 1000;

/// Finds the session's contenders at the path, and at the locks directly below it. Reports the
/// children that it may not read, and those that it leaves out.
std::vector<Place> places_of(const Client& client, const std::string& path, std::int64_t session) {
  std::vector<Place> places;
  const auto collect = [&](const Inspection& seen) {
    for (const Inspected& each : seen.contenders) {
      if (each.participant.session != session) continue;
      if (const auto stat = client.exists(each.participant.node)) {
        places.push_back({each, stat->version});
      }
    }
  };
  const Inspection here = inspect(client, path);
  collect(here);
  const std::size_t looked_at = std::min(here.foreign.size(), most_children);
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (const auto seen = inspect_if_allowed(client, here.foreign[i])) {
      collect(*seen);
    } else {
      say("may not be looked at with these credentials: " + here.foreign[i]);
    }
  }
  if (looked_at < here.foreign.size()) {
    say(std::to_string(here.foreign.size() - looked_at) + " children of " + path +
        " more were not looked at");
  }
  return places;
}

int break_session(const GlobalOptions& options, const BreakRequest& request) {
  require_terminal_or_yes(request);
  const std::int64_t session = parse_session(request.session);
  Client client = connect(options);
  const std::vector<Place> places = places_of(client, request.path, session);
  if (places.empty()) {
    throw UsageError{"session " + session_text(session) + " has no place at " +
                     printable(request.path) +
                     " or right below it; custodian inspect shows who has"};
  }
  for (const Place& place : places) say_who("To be broken", place.who);
  std::cerr
      << "\nThis does not stop its process, nor end its session. Until the process is told, or "
         "for as long\nas it is paused, it goes on as if it held what it held, beside the "
         "next one. End the process\nfirst if you can. Only what checks the fencing token "
         "is safe from both.\n"
      << std::flush;
  if (!request.yes && !is_confirmed()) {
    say("nothing was done");
    return to_int(ExitStatus::failure);
  }
  bool changed = false;
  Json deleted = Json::array();
  for (const Place& place : places) {
    const std::string& node = place.who.participant.node;
    const Ending ending = delete_as_seen(client, node, place.version);
    changed = changed || ending == Ending::changed;
    if (ending == Ending::deleted) deleted.push_back(node);
    if (request.json) continue;
    const char* const what = ending == Ending::deleted   ? "deleted "
                             : ending == Ending::changed ? "changed meanwhile, and left: "
                                                         : "gone by itself: ";
    std::cout << what << printable(node) << '\n';
  }
  if (request.json) {
    std::cout << to_line(Json{{"path", request.path},
                              {"session", session_text(session)},
                              {"deleted", std::move(deleted)}})
              << '\n';
  }
  return to_int(changed ? ExitStatus::failure : ExitStatus::ok);
}

int break_place(const GlobalOptions& options, const BreakRequest& request) {
  require_terminal_or_yes(request);
  Client client = connect(options);
  const Inspection seen = inspect(client, request.path);
  const auto loser = find_contender(seen, request.path, request.node);
  if (!loser) {
    throw UsageError{"nobody stands at " + printable(request.path) + " with the node " +
                     printable(request.node) +
                     ": only the node of a contender can be deleted here; custodian inspect shows "
                     "them"};
  }
  const auto stat = client.exists(loser->participant.node);
  warn(seen, *loser);
  if (!request.yes && !is_confirmed()) {
    say("nothing was done");
    return to_int(ExitStatus::failure);
  }
  const Ending ending = stat ? delete_as_seen(client, loser->participant.node, stat->version)
                             : Ending::gone_by_itself;
  if (ending == Ending::changed) {
    say("its data have changed since you looked: nothing was deleted; look again");
    return to_int(ExitStatus::failure);
  }
  const bool deleted = ending == Ending::deleted;
  if (request.json) {
    Json json{{"path", request.path}, {"deleted", deleted}};
    put_participant(json, loser->participant);
    std::cout << to_line(json) << '\n';
  } else {
    std::cout << (deleted ? "deleted " : "gone by itself: ") << printable(loser->participant.node)
              << '\n';
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_break_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("break", "takes a lock, or a place in its queue, away from somebody");
  command->group(looking_group);
  command->footer(
      "Deletes the node, and does not stop the process, which learns of it late, or never.\n"
      "Asks first.\n\n"
      "Example:\n"
      "  custodian break /locks/backup --node _c_0f...-lock-0000000042\n"
      "  custodian break /inventory --session 0x100000a3f2b0001");
  const auto request = std::make_shared<BreakRequest>();
  add_path_argument(*command, request->path, "the path that the lock was given")->required();
  CLI::App* const who = command->add_option_group("Who is to lose it");
  who->require_option(1);
  who->add_option("--node", request->node, "by its node, as inspect shows it")->type_name("NODE");
  who->add_option("--session", request->session,
                  "all that this session holds or waits for, at the path and at the locks right "
                  "below it; for an instance that is dead")
      ->type_name("ID");
  command->add_flag("--yes", request->yes, "do not ask");
  command->add_flag("--json", request->json, "what was done, as a line of JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] {
        return request->session.empty() ? break_place(options, *request)
                                        : break_session(options, *request);
      });
    };
  });
}

}  // namespace custodian::cli
