#pragma once

/// \file
/// Contestants are the drivers and their descriptions; this file measures nothing.

#include <string>
#include <vector>

namespace custodian::bench {

/// The kind of servers that a contestant needs.
enum class Kind {
  zookeeper,
  zookeeper_netty,  ///< the same servers, with Netty's connections instead of their own
  zookeeper_tls,    ///< Netty's connections over TLS
  redis,
  redis_append_only,
  mariadb,
  etcd
};

struct ContestantEntry {
  std::string name;
  Kind kind = Kind::zookeeper;
  std::string does;
  /// The failures of the server that a held lock survives; "none" if the lock is only in the
  /// server's memory.
  std::string durability;
  /// The client's way to the servers, always TCP on loopback; "none" if there are no servers.
  std::string route;
  /// The driver and its first arguments; the address of the servers comes after them.
  std::string program;
  std::vector<std::string> arguments{};
  std::string package{};  ///< the client's Debian package, whose version the contestant shows
  std::string version{};  ///< the version of a contestant without a package
  std::string absent{};   ///< why the contestant is absent, and what to install; or empty
};

[[nodiscard]] std::vector<ContestantEntry> all_contestants();

/// Our contestant from another build, which is measured together with the present one, so that a
/// change can be compared with the code before it.
[[nodiscard]] ContestantEntry ours_before(const std::string& program);

/// The version of a Debian package that is installed; empty if it is not, or if this is no Debian.
[[nodiscard]] std::string package_version(const std::string& package);

/// The path of a program in PATH or in Debian's directories for servers; empty if not found.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace custodian::bench
