/// \file
/// A user's connection string: servers and chroot. Two parsers read it, the client's and a simpler
/// one for the command's questions to single servers: they must agree.

#include "base/connection_string.hpp"

#include <algorithm>
#include <optional>

#include "base/paths.hpp"
#include "custodian/error.hpp"
#include "fuzz.hpp"
#include "servers/server_address.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using detail::ConnectionString;
using detail::parse_connection_string;

std::optional<ConnectionString> parsed(std::string_view text) {
  try {
    return parse_connection_string("fuzz", text);
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument, "a refusal is the caller's mistake");
    require(error.operation() == "fuzz", "a refusal names the operation");
    const std::string_view message{error.what()};
    require(is_one_line(message), "a refusal is one line");
    require(message.find("connection string") != message.npos, "a refusal says of what");
    return std::nullopt;
  }
}

std::string lower(std::string text) {
  for (char& each : text) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return text;
}

}  // namespace

void connection_string(std::string_view input) {
  const auto accepted = parsed(input);
  if (!accepted) return;

  require(!accepted->hosts.empty(), "there is a server");
  std::vector<std::string> names;
  for (const auto& server : accepted->hosts) {
    require(!server.host.empty() && server.port != 0, "a server has a host and a port");
    names.push_back(lower(to_string(server)));
  }
  std::ranges::sort(names);
  require(std::ranges::adjacent_find(names) == names.end(), "each server is there once");
  require(accepted->chroot.empty() || !detail::path_fault(accepted->chroot),
          "the chroot is a valid path");
  require(accepted->chroot != "/", "no chroot is none");

  const std::string text = to_string(*accepted);
  require(parsed(text) == accepted, "what is written is read as the same");
  require(parsed("\t " + text + "\n") == accepted, "space around it does not count");

  std::string as_the_command_reads_it;
  for (const auto& server : cli::servers_of(input)) {
    if (!as_the_command_reads_it.empty()) as_the_command_reads_it += ',';
    as_the_command_reads_it += cli::to_string(server);
  }
  if (cli::is_secure(input)) as_the_command_reads_it.insert(0, "secure://");
  as_the_command_reads_it += cli::chroot_of(input);
  require(parsed(as_the_command_reads_it) == accepted, "both parsers read the same");
}

}  // namespace custodian::fuzz
