#pragma once

/// \file
/// These types describe what a mirror has read, and how it changes. Value types.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/export.hpp"
#include "custodian/node.hpp"

namespace custodian {

/// Whether the servers let the client read a node.
enum class MirrorAccess : std::uint8_t {
  /// The node's data were read, or the mirror does not keep data.
  granted,
  /// The node's ACL does not let the client read it: the mirror knows its metadata only.
  refused,
};

/// A node as a mirror has read it. Never changes: a changed node is another object.
struct MirroredNode {
  /// The node's path, without the client's chroot and namespace.
  std::string path{};
  /// The node's data: any bytes. Empty without access, or if the mirror keeps no data.
  std::string data{};
  /// The metadata of the node when its data were read. So the members that change without the data
  /// (`pzxid`, `children_version`, `child_count`, `acl_version`) may be older than the mirror.
  Stat stat{};
  /// Whether the client may read the node.
  MirrorAccess access = MirrorAccess::granted;

  /// Equal if all members are equal.
  friend bool operator==(const MirroredNode&, const MirroredNode&) = default;
};

/// A node that the mirror, its snapshots and its changes share. It may be kept for any time, and
/// read on any thread.
using MirroredNodePtr = std::shared_ptr<const MirroredNode>;

/// What a MirrorChange reports.
enum class MirrorChangeKind : std::uint8_t {
  /// There is a node that was not there before: `node`. Its parent was reported earlier.
  added,
  /// The node has been written, or the client may read it now: `before` became `node`. Or the node
  /// was deleted and created anew, in one transaction or before the mirror has looked: then
  /// `stat.czxid` of the two differs, and what was below `before` was reported as removed.
  changed,
  /// The node is gone: `before`. The removal of its children was reported earlier.
  removed,
  /// The changes so far give the present tree: the first walk is over, or the walk that follows a
  /// lost session. `node` and `before` are null.
  synced,
};

/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(MirrorChangeKind kind) noexcept;

/// One step from an earlier tree to a later one.
struct MirrorChange {
  /// The kind of the change.
  MirrorChangeKind kind = MirrorChangeKind::synced;
  /// The node after the change; null for `removed` and `synced`.
  MirroredNodePtr node{};
  /// The node before the change; null for `added` and `synced`.
  MirroredNodePtr before{};
};

}  // namespace custodian
