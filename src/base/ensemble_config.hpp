#pragma once

/// \file
/// The configuration of an ensemble, as its servers publish it in /zookeeper/config:
///
///     server.1=zk1.example:2888:3888:participant;0.0.0.0:2181
///     server.2=zk2.example:2888:3888:observer;10.0.0.2:2181
///     version=100000003
///
/// The servers write it, and newer versions may write more than is known here. So the parser is
/// lenient: it skips a line that it does not understand. Pure; never throws for its input.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/connection_string.hpp"

namespace custodian::detail {

/// The address on which a member listens for clients.
struct ListeningAddress {
  /// Empty if the member listens on all addresses of its machine.
  std::string host{};
  std::uint16_t port = 0;

  friend bool operator==(const ListeningAddress&, const ListeningAddress&) = default;
};

struct EnsembleMember {
  /// The hosts at which the other members reach this one; there may be several since ZooKeeper 3.6.
  std::vector<std::string> hosts{};
  bool observes = false;
  /// The address for plain connections. Absent if the port is set by `clientPort` of the member's
  /// static configuration.
  std::optional<ListeningAddress> plain{};
  /// The address for TLS. Published since ZooKeeper 3.10.
  std::optional<ListeningAddress> secure{};

  friend bool operator==(const EnsembleMember&, const EnsembleMember&) = default;
};

struct EnsembleConfig {
  /// Grows with every reconfiguration.
  std::uint64_t version = 0;
  std::vector<EnsembleMember> members{};

  friend bool operator==(const EnsembleConfig&, const EnsembleConfig&) = default;
};

/// Parses the data of /zookeeper/config; nothing if it has no version, or if it is longer than any
/// configuration can be.
[[nodiscard]] std::optional<EnsembleConfig> parse_ensemble_config(std::string_view text);

/// How a client connects.
struct ClientSide {
  bool tls = false;
  /// The port of members whose configuration names none for this kind of client.
  std::optional<std::uint16_t> port{};
  /// Whether all servers that the user has given are on the client's own machine.
  bool local = false;
};

/// The addresses at which the voting members accept a client of this `side`; host names are not
/// resolved. A member that listens on all its addresses is reached at the hosts that the other
/// members use. Left out are:
///
/// - observers, because a client whose server reaches the leader through an observer master needs a
///   longer touch interval;
/// - members whose port is not known;
/// - loopback addresses, unless the given servers are local: on the client's machine, such an
///   address may belong to another ensemble.
[[nodiscard]] std::vector<HostPort> servers_of(const EnsembleConfig& config,
                                               const ClientSide& side);

/// Whether all servers are loopback addresses, or localhost.
[[nodiscard]] bool are_local(const std::vector<HostPort>& servers);

/// The port that all servers of a connection string have; nothing if they differ.
[[nodiscard]] std::optional<std::uint16_t> common_port(const std::vector<HostPort>& servers);

/// The connection string `servers`, which must have no chroot, with the `members` added that are
/// not in it yet.
[[nodiscard]] std::string with_members(const std::string& servers,
                                       const std::vector<HostPort>& members);

}  // namespace custodian::detail
