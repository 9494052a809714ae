#include "servers/server_address.hpp"

#include <algorithm>
#include <charconv>

#include "trimmed.hpp"

namespace custodian::cli {
namespace {

using detail::trimmed;

constexpr std::uint16_t default_port = 2181;
constexpr std::string_view secure_prefix = "secure://";

std::string_view without_prefix(std::string_view connection_string) {
  connection_string = trimmed(connection_string);
  if (is_secure(connection_string)) connection_string.remove_prefix(secure_prefix.size());
  return connection_string;
}

ServerAddress parse_server(std::string_view text) {
  ServerAddress server{.host = {}, .port = default_port};
  const auto colon = text.rfind(':');
  const bool has_port = colon != text.npos && text.find(']', colon) == text.npos;
  if (has_port) {
    const std::string_view port = text.substr(colon + 1);
    std::from_chars(port.data(), port.data() + port.size(), server.port);
    text = text.substr(0, colon);
  }
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  server.host = text;
  return server;
}

}  // namespace

std::string to_string(const ServerAddress& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

std::vector<ServerAddress> servers_of(std::string_view connection_string) {
  std::vector<ServerAddress> servers;
  connection_string = without_prefix(connection_string);
  std::string_view rest = connection_string.substr(0, connection_string.find('/'));
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const ServerAddress server = parse_server(trimmed(rest.substr(0, comma)));
    if (std::ranges::find(servers, server) == servers.end()) servers.push_back(server);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return servers;
}

bool is_secure(std::string_view connection_string) {
  return trimmed(connection_string).starts_with(secure_prefix);
}

std::string chroot_of(std::string_view connection_string) {
  connection_string = without_prefix(connection_string);
  const auto slash = connection_string.find('/');
  if (slash == connection_string.npos) return {};
  const std::string_view path = trimmed(connection_string.substr(slash));
  return path == "/" ? std::string{} : std::string{path};
}

}  // namespace custodian::cli
