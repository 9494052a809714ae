#pragma once

/// \file
/// TreeCache keeps a copy of a node and of everything below it, and follows the changes. It is
/// Apache Curator's class of this name (and does what its CuratorCache does).
///
/// When not to use it: where one level is enough (PathChildrenCache), or one node (NodeCache).
///
/// Use, threads and lifetimes: see Mirror.

#include <string>
#include <utility>

#include "custodian/mirror/mirror.hpp"

namespace custodian {

/// A copy of a node and of everything below it.
/// \copydetails custodian/mirror/tree_cache.hpp
class TreeCache final : public Mirror {
 public:
  /// Begins to mirror `path`, which need not exist. Throws Error (invalid_argument) if `path` is
  /// not a valid path, or `max_nodes` is 0.
  TreeCache(const Client& client, std::string path, MirrorOptions options = {})
      : Mirror{client, "TreeCache", std::move(path), std::move(options)} {}
};

}  // namespace custodian
