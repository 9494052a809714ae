#include "queue/list_command.hpp"

#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "options/duration_option.hpp"
#include "options/exit_status.hpp"
#include "options/messages.hpp"
#include "options/path_argument.hpp"
#include "options/usage_error.hpp"
#include "queue/following.hpp"
#include "queue/lock_list_view.hpp"
#include "queue/looking.hpp"
#include "text/printable_text.hpp"
#include "text/screen.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::system_clock;

struct ListRequest {
  std::string path = "/";
  bool cycles = false;
  bool watch = false;
  bool json = false;
  std::string of{};
  std::optional<std::chrono::nanoseconds> longer_than{};
  ListOptions options{};
};

using Lines = std::vector<std::string>;

Lines lines_of_locks(const ListRequest& request, LockListing listing) {
  const auto now = system_clock::now();
  apply({request.longer_than.value_or(std::chrono::nanoseconds{-1}), request.of}, listing, now);
  if (!request.json) return lines_of(listing, request.path, now);
  Lines lines;
  for (const ListedLock& each : listing.locks) lines.push_back(to_line(json_of(each)));
  return lines;
}

Lines lines_of_cycles(const ListRequest& request, const LockListing& listing,
                      const std::vector<WaitCycle>& cycles) {
  const auto now = system_clock::now();
  Lines lines;
  const auto add = [&](Lines more) {
    lines.insert(lines.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
  for (const WaitCycle& each : cycles) {
    if (request.json) {
      lines.push_back(to_line(json_of(each)));
    } else {
      add(lines_of(each, now));
      lines.emplace_back();
    }
  }
  if (request.json) return lines;
  if (cycles.empty()) {
    lines.push_back("no sessions wait for each other");
  } else {
    add(advice_on_cycles());
  }
  add(remarks_on(listing));
  return lines;
}

struct Picture {
  Lines lines{};
  /// Remarks, which lines of JSON have no place for.
  Lines remarks{};
  bool has_cycles = false;
};

Picture look(const Client& client, const ListRequest& request, std::stop_token stop = {}) {
  LockListing listing = list_locks(client, request.path, request.options, std::move(stop));
  Picture picture;
  if (request.json) picture.remarks = remarks_on(listing);
  if (request.cycles) {
    const std::vector<WaitCycle> cycles = find_wait_cycles(listing.locks);
    picture.lines = lines_of_cycles(request, listing, cycles);
    picture.has_cycles = !cycles.empty();
  } else {
    picture.lines = lines_of_locks(request, std::move(listing));
  }
  return picture;
}

int list_once(const GlobalOptions& options, const ListRequest& request) {
  const Client client = connect(options);
  const Picture picture = look(client, request);
  for (const std::string& line : picture.lines) std::cout << line << '\n';
  for (const std::string& remark : picture.remarks) say(remark);
  return to_int(picture.has_cycles ? ExitStatus::failure : ExitStatus::ok);
}

int list_again_and_again(const GlobalOptions& options, const ListRequest& request) {
  constexpr std::chrono::seconds between{2};
  const bool on_terminal = Screen::is_terminal();
  Following following;
  Screen screen;
  const Client client = connect(options, on_terminal ? Log::none : Log::as_asked);
  do {
    if (following.was_resized()) screen.forget_picture();
    Lines lines;
    try {
      lines = look(client, request, following.stop_token()).lines;
    } catch (const Error& error) {
      const bool will_pass = error.code() == ErrorCondition::retryable ||
                             error.code() == ErrorCondition::session_over ||
                             error.code() == Errc::deadline_exceeded;
      if (following.stop_token().stop_requested()) break;
      if (!will_pass) throw;
      lines = {"the servers do not answer: " + error.code().message()};
    }
    lines.insert(lines.begin(), printable(request.path) + "  " + plain_time(system_clock::now()));
    if (on_terminal) {
      screen.draw(lines);
    } else {
      for (const std::string& line : lines) std::cout << line << '\n';
      std::cout << '\n' << std::flush;
    }
  } while (following.wait(between) && std::cout);
  return to_int(ExitStatus::ok);
}

int list(const GlobalOptions& options, const ListRequest& request) {
  if (request.watch && request.json) {
    throw UsageError{"--watch is for people: without --json"};
  }
  if (request.cycles && (request.longer_than || !request.of.empty())) {
    throw UsageError{"--cycles looks at all locks: without --longer-than and --of"};
  }
  return request.watch ? list_again_and_again(options, request) : list_once(options, request);
}

}  // namespace

void add_list_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("list", "shows all locks at and below a path: who holds, how many wait");
  command->group(looking_group);
  command->footer(
      "Shows all locks, semaphores and elections that somebody holds, of this library, of Apache\n"
      "Curator and of kazoo. With --cycles it shows processes that wait for each other instead, "
      "and\n"
      "the status is 1 if there are any.\n\n"
      "Examples:\n"
      "  custodian list /locks --longer-than 5m\n"
      "  custodian list --cycles");
  const auto request = std::make_shared<ListRequest>();
  add_path_argument(*command, request->path, "the path to begin at (/)");
  command->add_flag("--cycles", request->cycles,
                    "show sessions that wait for each other; the status is 1 if there are any");
  add_duration_option(*command, "--longer-than", request->longer_than,
                      "only locks that somebody has held, or waited for, for longer than this");
  command
      ->add_option("--of", request->of,
                   "only locks of this session (0x10000abcd), or of who is called so")
      ->type_name("WHO");
  command->add_flag("--watch", request->watch, "go on, and show it again every two seconds");
  command->add_flag("--json", request->json, "a line of JSON for each lock, or each circle");
  command
      ->add_option("--max-nodes", request->options.max_nodes,
                   "look at no more nodes than this (1000000)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return list(options, *request); });
    };
  });
}

}  // namespace custodian::cli
