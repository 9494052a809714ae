#pragma once

/// \file
/// MirrorSnapshot is all that a mirror knew at one moment. Immutable: any thread may read it, for
/// any time, and without a lock.

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/mirror/mirrored_node.hpp"

namespace custodian {

/// The nodes of a mirror at one moment.
/// \copydetails custodian/mirror/mirror_snapshot.hpp
class CUSTODIAN_EXPORT MirrorSnapshot {
 public:
  /// A range of nodes.
  using Nodes = std::vector<MirroredNodePtr>;

  /// A snapshot without nodes.
  MirrorSnapshot() = default;
  /// Made by mirrors. `nodes` are in the order of nodes().
  explicit MirrorSnapshot(Nodes nodes) : nodes_{std::move(nodes)} {}

  /// The node at this path; null if the mirror knew none.
  [[nodiscard]] MirroredNodePtr get(std::string_view path) const;
  /// The children of the node at this path, by name; none if the mirror knew no such node.
  [[nodiscard]] Nodes children(std::string_view path) const;

  /// All nodes: parents before their children, which are ordered by name.
  [[nodiscard]] const Nodes& nodes() const noexcept { return nodes_; }
  /// The number of nodes.
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  /// Whether there are no nodes.
  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

 private:
  [[nodiscard]] Nodes::const_iterator find(std::string_view path) const;

  Nodes nodes_;
};

/// A snapshot that several users share.
using MirrorSnapshotPtr = std::shared_ptr<const MirrorSnapshot>;

}  // namespace custodian
