#include "base/ensemble_config.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <utility>

#include "text/trimmed.hpp"

namespace custodian::detail {
namespace {

/// An ensemble has at most 255 members, and their text needs fewer bytes than this.
constexpr std::size_t longest_text = std::size_t{64} << 10U;
constexpr std::size_t most_members = 255;

/// Removes the text before the separator from `rest`, and the separator; returns that text.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

/// The host in front of ":2888:3888". An IPv6 address has brackets, which stay.
std::string_view host_of(std::string_view address) {
  const auto from = address.starts_with('[') ? address.find(']') : 0;
  if (from == std::string_view::npos) return {};
  return address.substr(0, address.find(':', from));
}

bool is_wildcard(std::string_view host) { return host == "0.0.0.0" || host == "::"; }

/// Whether the host is "localhost", "localhost." or a loopback address, in any spelling.
bool is_loopback(std::string_view host) {
  namespace ip = boost::asio::ip;
  const HostPort server{std::string{host}, 0};
  if (same_server(server, {"localhost", 0}) || same_server(server, {"localhost.", 0})) return true;
  boost::system::error_code is_name;
  const ip::address address = ip::make_address(host, is_name);
  if (is_name) return false;
  return address.is_loopback() ||
         (address.is_v6() && address.to_v6().is_v4_mapped() &&
          ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback());
}

/// Parses "2181" or "host:2181".
std::optional<ListeningAddress> parse_listening(std::string_view text) {
  const bool port_alone = text.find(':') == std::string_view::npos;
  const auto server = parse_server(port_alone ? "0.0.0.0:" + std::string{text} : std::string{text});
  if (!server) return std::nullopt;
  return ListeningAddress{is_wildcard(server->host) ? std::string{} : server->host, server->port};
}

/// Parses "host:2888:3888:participant;0.0.0.0:2181"; several hosts are separated by '|'.
std::optional<EnsembleMember> parse_member(std::string_view text) {
  EnsembleMember member;
  std::string_view quorum = take_until(text, ';');
  member.plain = parse_listening(take_until(text, ';'));
  member.secure = parse_listening(take_until(text, ';'));
  member.observes = quorum.substr(std::min(quorum.rfind(':'), quorum.size())) == ":observer";
  while (!quorum.empty()) {
    const auto host = parse_server(std::string{host_of(take_until(quorum, '|'))});
    if (host && !is_wildcard(host->host)) member.hosts.push_back(host->host);
  }
  if (member.hosts.empty()) return std::nullopt;
  return member;
}

std::optional<std::uint64_t> parse_version(std::string_view text) {
  std::uint64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, version, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return version;
}

/// The address at which a member accepts a client of this side.
std::optional<ListeningAddress> listening(const EnsembleMember& member, const ClientSide& side) {
  const auto& own = side.tls ? member.secure : member.plain;
  if (own) return own;
  // A member that names only a port for TLS has no port for plain connections.
  if (!side.port || (!side.tls && member.secure)) return std::nullopt;
  return ListeningAddress{member.plain ? member.plain->host : std::string{}, *side.port};
}

}  // namespace

std::optional<EnsembleConfig> parse_ensemble_config(std::string_view text) {
  if (text.size() > longest_text) return std::nullopt;
  std::optional<std::uint64_t> version;
  EnsembleConfig config;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view key = trimmed(take_until(value, '='));
    value = trimmed(value);
    if (key == "version") {
      version = parse_version(value);
    } else if (key.starts_with("server.") && config.members.size() < most_members) {
      if (auto member = parse_member(value)) config.members.push_back(std::move(*member));
    }
  }
  if (!version) return std::nullopt;
  config.version = *version;
  return config;
}

std::vector<HostPort> servers_of(const EnsembleConfig& config, const ClientSide& side) {
  std::vector<HostPort> servers;
  const auto add = [&](HostPort server) {
    const auto same = [&](const HostPort& known) { return same_server(known, server); };
    if (is_loopback(server.host) && !side.local) return;
    if (std::ranges::none_of(servers, same)) servers.push_back(std::move(server));
  };
  for (const EnsembleMember& member : config.members) {
    const auto address = listening(member, side);
    if (member.observes || !address) continue;
    if (address->host.empty()) {
      for (const std::string& host : member.hosts) add({host, address->port});
    } else {
      add({address->host, address->port});
    }
  }
  return servers;
}

bool are_local(const std::vector<HostPort>& servers) {
  return std::ranges::all_of(servers, [](const HostPort& each) { return is_loopback(each.host); });
}

std::optional<std::uint16_t> common_port(const std::vector<HostPort>& servers) {
  if (servers.empty()) return std::nullopt;
  const auto same = [&](const HostPort& each) { return each.port == servers.front().port; };
  if (!std::ranges::all_of(servers, same)) return std::nullopt;
  return servers.front().port;
}

std::string with_members(const std::string& servers, const std::vector<HostPort>& members) {
  if (members.empty()) return servers;
  ConnectionString all = parse_connection_string("set_servers", servers);
  for (const HostPort& member : members) {
    const auto same = [&](const HostPort& known) { return same_server(known, member); };
    if (std::ranges::none_of(all.hosts, same)) all.hosts.push_back(member);
  }
  return to_string(all);
}

}  // namespace custodian::detail
