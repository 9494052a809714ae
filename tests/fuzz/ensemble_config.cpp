/// \file
/// The configuration that an ensemble publishes, from which a client takes its servers.

#include "base/ensemble_config.hpp"

#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

using detail::ClientSide;
using detail::HostPort;

void ensemble_config(std::string_view input) {
  const auto config = detail::parse_ensemble_config(input);
  if (!config) return;
  require(input.find("version") != input.npos, "a configuration has a version");
  require(config->members.size() <= 255, "an ensemble has 255 members at most");
  for (const ClientSide side : {ClientSide{}, ClientSide{.port = 2181}, ClientSide{.tls = true},
                                ClientSide{.tls = true, .port = 2281}}) {
    const std::vector<HostPort> servers = detail::servers_of(*config, side);
    for (const HostPort& server : servers) {
      require(server.host != "0.0.0.0" && server.host != "::", "a wildcard is no address");
      require(server.port != 0, "a server has a port");
    }
    const std::string all = detail::with_members("given:2181", servers);
    // The parser throws if an address is malformed.
    const auto parsed = detail::parse_connection_string("fuzz", all);
    require(parsed.hosts.front() == HostPort{"given", 2181}, "the given servers stay");
    require(parsed.chroot.empty() && !parsed.secure, "a configuration adds servers alone");
    require(parsed.hosts.size() >= servers.size(), "each member is among the servers");
  }
}

}  // namespace custodian::fuzz
