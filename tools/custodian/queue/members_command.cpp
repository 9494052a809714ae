#include "queue/members_command.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/path.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "queue/looking.hpp"
#include "text/json_text.hpp"
#include "text/printable_text.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

struct MembersRequest {
  std::string group{};
  bool json = false;
};

struct SeenMember {
  std::string id{};
  Stat stat{};
  std::optional<std::string> payload{};  ///< nothing if it may not be read
};

/// The members, sorted by their ids. A member that leaves meanwhile is left out.
std::vector<SeenMember> look_at_members(const Client& client, const std::string& group) {
  std::vector<std::string> ids;
  try {
    client.sync(group);
    ids = client.children(group).names;
  } catch (const Error& error) {
    if (error.code() != ServerErrc::no_node) throw;
  }
  std::ranges::sort(ids);
  std::vector<SeenMember> seen;
  for (std::string& id : ids) {
    SeenMember member{.id = std::move(id)};
    const std::string node = join(group, member.id);
    try {
      GetResult read = client.get(node);
      member.stat = read.stat;
      member.payload = std::move(read.data);
    } catch (const Error& error) {
      if (error.code() != ServerErrc::no_auth && error.code() != ServerErrc::no_node) throw;
      const auto stat = client.exists(node);
      if (!stat) continue;
      member.stat = *stat;
    }
    seen.push_back(std::move(member));
  }
  return seen;
}

Json json_of(const SeenMember& member) {
  Json json;
  json["id"] = member.id;
  if (!member.payload) {
    json["refused"] = true;
  } else if (is_utf8(*member.payload)) {
    json["payload"] = *member.payload;
  } else {
    json["payload"] = nullptr;
    json["payload_hex"] = to_hex(*member.payload);
  }
  json["session"] = nullptr;
  if (member.stat.ephemeral_owner != 0) json["session"] = session_text(member.stat.ephemeral_owner);
  json["since"] = iso_time(member.stat.created);
  return json;
}

std::vector<std::string> row_of(const SeenMember& member) {
  constexpr std::size_t columns = 60;
  const bool has_session = member.stat.ephemeral_owner != 0;
  return {printable(member.id), plain_time(member.stat.created),
          has_session ? session_text(member.stat.ephemeral_owner) : "no session",
          member.payload ? shortened(printable(*member.payload), columns) : "(may not be read)"};
}

int show_members(const GlobalOptions& options, const MembersRequest& request) {
  const Client client = connect(options);
  const std::vector<SeenMember> seen = look_at_members(client, request.group);
  if (request.json) {
    Json json;
    json["group"] = request.group;
    json["members"] = Json::array();
    for (const SeenMember& each : seen) json["members"].push_back(json_of(each));
    std::cout << to_line(json) << '\n';
  } else if (seen.empty()) {
    std::cout << "there is no member at " << printable(request.group) << '\n';
  } else {
    std::vector<std::vector<std::string>> rows{{"MEMBER", "SINCE", "SESSION", "PAYLOAD"}};
    for (const SeenMember& each : seen) rows.push_back(row_of(each));
    for (const std::string& line : aligned(rows)) std::cout << line << '\n';
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_members_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("members", "shows the members of a group");
  command->group(looking_group);
  command->footer(
      "Those of custodian member, of the library's GroupMember, and of Apache Curator's.\n"
      "As they come and go: custodian watch PATH --depth 1.\n\n"
      "Example:\n"
      "  custodian members /fleet");
  const auto request = std::make_shared<MembersRequest>();
  add_path_argument(*command, request->group, "the group")->required();
  command->add_flag("--json", request->json, "one line of JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return show_members(options, *request); });
    };
  });
}

}  // namespace custodian::cli
