#pragma once

/// \file
/// PathChildrenCache keeps a copy of a node and of its children, and follows the changes. It is
/// Apache Curator's class of this name; here the node itself is reported, too.
///
/// When not to use it: for what is deeper (TreeCache).
///
/// Use, threads and lifetimes: see Mirror.

#include <string>
#include <utility>
#include <vector>

#include "custodian/mirror/mirror.hpp"

namespace custodian {

/// A copy of a node and of its children.
/// \copydetails custodian/mirror/path_children_cache.hpp
class PathChildrenCache final : public Mirror {
 public:
  /// Begins to mirror `path`, which need not exist. The depth of the options is not used. Throws
  /// Error (invalid_argument) if `path` is not a valid path, or `max_nodes` is 0.
  PathChildrenCache(const Client& client, std::string path, MirrorOptions options = {})
      : Mirror{client, "PathChildrenCache", std::move(path), one_level(std::move(options))} {}

  using Mirror::children;
  /// The children, by name.
  [[nodiscard]] std::vector<MirroredNodePtr> children() const { return children(path()); }

 private:
  [[nodiscard]] static MirrorOptions one_level(MirrorOptions options) {
    options.depth = 1;
    return options;
  }
};

}  // namespace custodian
