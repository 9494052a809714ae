#pragma once

/// \file
/// NodeCache keeps a copy of one node, and follows its changes. It is Apache Curator's class of
/// this name.
///
/// When not to use it: for a value that this program writes, too (SharedValue).
///
/// Use, threads and lifetimes: see Mirror.

#include <string>
#include <utility>

#include "custodian/mirror/mirror.hpp"

namespace custodian {

/// A copy of one node.
/// \copydetails custodian/mirror/node_cache.hpp
class NodeCache final : public Mirror {
 public:
  /// Begins to mirror the node at `path`, which need not exist. The depth of the options is not
  /// used. Throws Error (invalid_argument) if `path` is not a valid path, or `max_nodes` is 0.
  NodeCache(const Client& client, std::string path, MirrorOptions options = {})
      : Mirror{client, "NodeCache", std::move(path), no_levels(std::move(options))} {}

  using Mirror::get;
  /// The node; null if it is not known to exist.
  [[nodiscard]] MirroredNodePtr get() const { return get(path()); }

 private:
  [[nodiscard]] static MirrorOptions no_levels(MirrorOptions options) {
    options.depth = 0;
    return options;
  }
};

}  // namespace custodian
