#pragma once

/// \file
/// The configuration of an ensemble, as its servers publish it in /zookeeper/config:
///
///     server.1=zk1.example:2888:3888:participant;0.0.0.0:2181
///     server.2=zk2.example:2888:3888:observer;10.0.0.2:2181
///     version=100000003
///
/// Other servers write it, and other versions may write more than is known here. So it is read with
/// indulgence: a line that is not understood counts as absent. Pure; never throws for its input.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/connection_string.hpp"

namespace custodian::detail {

/// The address on which a member listens for clients.
struct ListeningAddress {
  /// Empty: on all addresses of its machine.
  std::string host{};
  std::uint16_t port = 0;

  friend bool operator==(const ListeningAddress&, const ListeningAddress&) = default;
};

struct EnsembleMember {
  /// The hosts at which the other members reach it; there may be several since ZooKeeper 3.6.
  std::vector<std::string> hosts{};
  bool observes = false;
  /// For plain connections. Absent where a `clientPort` of the static configuration has it.
  std::optional<ListeningAddress> plain{};
  /// For TLS; since ZooKeeper 3.10.
  std::optional<ListeningAddress> secure{};

  friend bool operator==(const EnsembleMember&, const EnsembleMember&) = default;
};

struct EnsembleConfig {
  /// Grows with every reconfiguration.
  std::uint64_t version = 0;
  std::vector<EnsembleMember> members{};

  friend bool operator==(const EnsembleConfig&, const EnsembleConfig&) = default;
};

/// Nothing if there is no version, or if the text is longer than any configuration.
[[nodiscard]] std::optional<EnsembleConfig> parse_ensemble_config(std::string_view text);

/// How a client connects.
struct ClientSide {
  bool tls = false;
  /// The port of members whose configuration does not name the one for this client.
  std::optional<std::uint16_t> port{};
  /// Whether all servers that the user has given are on the client's own machine.
  bool local = false;
};

/// The servers at which the members that vote accept such a client; names stay names. A member that
/// listens on all its addresses is reached at the hosts that the other members use. Left out are:
///
/// - observers, for a client that reaches its leader through an observer master needs a longer
///   touch interval;
/// - members whose port is not known;
/// - loopback addresses, unless the given servers are local: on the client's machine, another
///   ensemble may have such an address.
[[nodiscard]] std::vector<HostPort> servers_of(const EnsembleConfig& config,
                                               const ClientSide& side);

/// Whether all of them are loopback addresses, or localhost.
[[nodiscard]] bool are_local(const std::vector<HostPort>& servers);

/// The port that all servers of a connection string have; nothing if they differ.
[[nodiscard]] std::optional<std::uint16_t> common_port(const std::vector<HostPort>& servers);

/// A connection string without a chroot, and the members that it does not name.
[[nodiscard]] std::string with_members(const std::string& servers,
                                       const std::vector<HostPort>& members);

}  // namespace custodian::detail
