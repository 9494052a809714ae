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
  /// The node stays until a client deletes it.
  persistent,
  /// The servers delete the node when the session that created it ends.
  ephemeral,
  /// Like `persistent`, and the server appends a number of ten digits to the name, which grows with
  /// every child of the parent.
  persistent_sequential,
  /// Both ephemeral and sequential: the mode of a contender in a queue.
  ephemeral_sequential,
  /// The servers delete the node some time after its last child has gone.
  container,
  /// The servers delete the node when it was not written for its TTL and has no children. Needs
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
  std::int64_t czxid = 0;  ///< the transaction that created the node; grows over the whole ensemble
  std::int64_t mzxid = 0;  ///< the transaction that last changed the data
  std::int64_t pzxid = 0;  ///< the transaction that last changed the list of children
  /// When the node was created, by the leader's clock.
  std::chrono::system_clock::time_point created{};
  /// When the data were last changed, by the leader's clock.
  std::chrono::system_clock::time_point modified{};
  /// The data's version; set and remove may require it.
  std::int32_t version = 0;
  std::int32_t children_version = 0;  ///< the version of the list of children
  /// The ACL's version; `Client::set_acl()` may require it.
  std::int32_t acl_version = 0;
  /// The session that owns an ephemeral node; 0 for a persistent node. Containers and nodes with a
  /// TTL have a negative number, by which the servers mark them.
  std::int64_t ephemeral_owner = 0;
  /// The size of the data in bytes.
  std::int32_t data_length = 0;
  /// How many children the node has.
  std::int32_t child_count = 0;

  /// Equal if all members are equal.
  friend bool operator==(const Stat&, const Stat&) = default;
};

/// The result of creating a node.
struct Created {
  /// The final path, with the sequence number if the node has one, and without the client's chroot
  /// and namespace.
  std::string path{};
  /// The metadata at its creation.
  Stat stat{};
};

/// The result of writing a node that need not exist.
struct Upserted {
  /// The metadata after the write.
  Stat stat{};
  /// Whether the node was created; otherwise it existed, and was written.
  bool created = false;
};

/// The result of reading a node.
struct GetResult {
  /// The node's data: any bytes.
  std::string data{};
  /// The node's metadata at the time of the read.
  Stat stat{};
};

/// The result of listing a node's children.
struct Children {
  std::vector<std::string> names{};  ///< the children's names, in no particular order
  Stat stat{};                       ///< the metadata of the parent
};

/// Passed as a required version: every version will do.
inline constexpr std::int32_t any_version = -1;

}  // namespace custodian
