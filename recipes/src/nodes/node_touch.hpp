#pragma once

/// \file
/// keep_touching() keeps a node with a TTL alive. Writing the node itself would wake all who watch
/// it; so a child of the node is written, as Curator's PersistentTtlNode does. When nobody writes
/// any more, the servers delete the child after the TTL, and then the node.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "nodes/node_keeper.hpp"

namespace custodian::recipes_detail {

/// The child of this node that is written.
[[nodiscard]] std::string touch_path(const std::string& node);

/// Writes the child of the keeper's node, twice in its TTL, whenever the node is there. Ends with
/// the keeper. Called on the strand only.
[[nodiscard]] boost::asio::awaitable<void> keep_touching(NodeKeeperPtr keeper);

}  // namespace custodian::recipes_detail
