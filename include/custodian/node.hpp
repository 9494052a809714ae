#pragma once

/// \file
/// These types describe a node: its mode, its metadata, and the results of reading it. Value types.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace custodian {

/// How long a node lives and how it is named.
enum class CreateMode {
  /// Stays until a client deletes it.
  persistent,
  /// Deleted by the servers when the session that created it ends.
  ephemeral,
  /// The server appends ten digits that grow with every child of the parent.
  persistent_sequential,
  /// Both `ephemeral` and sequential: a contender in a queue.
  ephemeral_sequential,
  /// Deleted by the servers some time after its last child has gone.
  container,
  /// Deleted by the servers when it was not written for its TTL and has no children. Needs
  /// `extendedTypesEnabled=true` on the servers.
  persistent_with_ttl,
  /// Both sequential and with a TTL.
  persistent_sequential_with_ttl,
};

/// Whether the server appends a number to the name.
[[nodiscard]] constexpr bool is_sequential(CreateMode mode) noexcept {
  return mode == CreateMode::persistent_sequential || mode == CreateMode::ephemeral_sequential ||
         mode == CreateMode::persistent_sequential_with_ttl;
}

/// Whether the node is deleted with its session.
[[nodiscard]] constexpr bool is_ephemeral(CreateMode mode) noexcept {
  return mode == CreateMode::ephemeral || mode == CreateMode::ephemeral_sequential;
}

/// Whether the node is deleted when it was not written for a time.
[[nodiscard]] constexpr bool has_ttl(CreateMode mode) noexcept {
  return mode == CreateMode::persistent_with_ttl ||
         mode == CreateMode::persistent_sequential_with_ttl;
}

/// A node's metadata, as the server keeps it (`org.apache.zookeeper.data.Stat`).
struct Stat {
  std::int64_t czxid = 0;  ///< the transaction that created it; grows over the whole ensemble
  std::int64_t mzxid = 0;  ///< the transaction that last changed its data
  std::int64_t pzxid = 0;  ///< the transaction that last changed its children
  std::chrono::system_clock::time_point created{};   ///< by the leader's clock
  std::chrono::system_clock::time_point modified{};  ///< by the leader's clock
  std::int32_t version = 0;                          ///< of the data; set and remove may require it
  std::int32_t children_version = 0;                 ///< of the list of children
  /// Of the ACL; `Client::set_acl()` may require it.
  std::int32_t acl_version = 0;
  std::int64_t ephemeral_owner = 0;  ///< the session that it dies with; 0 if it is not ephemeral
  /// In bytes.
  std::int32_t data_length = 0;
  /// How many children it has.
  std::int32_t child_count = 0;

  /// Memberwise.
  friend bool operator==(const Stat&, const Stat&) = default;
};

/// A node that was created: its final path (with the sequence number, if it has one).
struct Created {
  /// The path for the caller: without the client's chroot and namespace.
  std::string path{};
  /// The metadata at its creation.
  Stat stat{};
};

/// A node that was read.
struct GetResult {
  /// Any bytes.
  std::string data{};
  /// The node's metadata, when it was read.
  Stat stat{};
};

/// The children of a node.
struct Children {
  std::vector<std::string> names{};  ///< in no particular order
  Stat stat{};                       ///< of the parent
};

/// Passed as a version: any version will do.
inline constexpr std::int32_t any_version = -1;

}  // namespace custodian
