#pragma once

/// \file
/// PersistentTtlNode is a PersistentNode that outlives its session, and not its process: a node
/// with a time to live. It is Apache Curator's class of this name, and compatible with it on the
/// wire.
///
/// The servers delete such a node when it was not written for its TTL and has no children. The
/// object writes a child, `touch`, twice in that time; so the node itself is not written, and its
/// watchers are not notified. When the process is gone, the servers delete the child after the TTL,
/// and the node later: they look for such nodes once a minute (their
/// `znode.container.checkIntervalMs`).
///
/// When not to use it: where a session says well enough that a process is there (PersistentNode);
/// on servers without `extendedTypesEnabled=true`, which refuse it (unimplemented).
///
/// Threads, lifetimes, functions: those of PersistentNode.

#include <chrono>
#include <string>
#include <utility>

#include "custodian/nodes/persistent_node.hpp"

namespace custodian {

/// Keeps one node with a time to live.
/// \copydetails custodian/nodes/persistent_ttl_node.hpp
class PersistentTtlNode : public PersistentNode {
 public:
  /// As PersistentNode's constructor. `ttl` is 1 ms to 2^40 - 1 ms; choose several times as long as
  /// an outage takes, or the servers delete the node during one. The mode in the options must be
  /// persistent_with_ttl, or persistent_sequential_with_ttl.
  PersistentTtlNode(const Client& client, std::string path, std::chrono::milliseconds ttl,
                    std::string data = {},
                    PersistentNodeOptions options = {.mode = CreateMode::persistent_with_ttl})
      : PersistentNode{client, std::move(path), std::move(data),
                       with_ttl(std::move(options), ttl)} {}

 private:
  [[nodiscard]] static PersistentNodeOptions with_ttl(PersistentNodeOptions options,
                                                      std::chrono::milliseconds ttl) {
    options.ttl = ttl;
    return options;
  }
};

}  // namespace custodian
