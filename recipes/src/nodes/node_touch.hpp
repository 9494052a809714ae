#pragma once

/// \file
/// keep_touching() keeps a node with a TTL alive. A write to the node itself would wake all
/// watchers of the node, so a child of the node is written instead, as Curator's PersistentTtlNode
/// does. When no process writes the child any more, the servers delete it after the TTL, and then
/// the node.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "nodes/node_keeper.hpp"

namespace custodian::recipes_detail {

/// The path of the child that is written.
[[nodiscard]] std::string touch_path(const std::string& node);

/// Writes the child of the keeper's node twice within its TTL, whenever the node exists. Ends with
/// the keeper. Called on the strand only.
[[nodiscard]] boost::asio::awaitable<void> keep_touching(NodeKeeperPtr keeper);

}  // namespace custodian::recipes_detail
