#pragma once

/// \file
/// Contestants are the drivers and their descriptions. Nothing is measured here.

#include <string>
#include <vector>

namespace custodian::bench {

/// The kind of servers that a contestant needs.
enum class Kind { zookeeper, redis, redis_append_only, mariadb, etcd };

struct ContestantEntry {
  std::string name;
  Kind kind = Kind::zookeeper;
  std::string does;
  /// What a held lock survives; "none" if it ends with the server's memory.
  std::string durability;
  /// All of them over TCP on loopback.
  std::string route;
  /// The driver; the servers' address is the last of its words.
  std::string program;
  std::vector<std::string> arguments{};
  std::string package{};  ///< Debian's, of the client; its version is the contestant's
  std::string version{};  ///< of what is no package
  std::string absent{};   ///< why it cannot take part, with what to install; empty if it can
};

[[nodiscard]] std::vector<ContestantEntry> all_contestants();

/// Ours as another build has it, so that a change is measured beside what was there before it.
[[nodiscard]] ContestantEntry ours_before(const std::string& program);

/// The version of a Debian package that is installed; empty if it is not, or if this is no Debian.
[[nodiscard]] std::string package_version(const std::string& package);

/// A program's path, of PATH or where Debian has servers; empty if there is none.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace custodian::bench
