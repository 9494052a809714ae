#pragma once

/// \file
/// *choose()* decides which node belongs to the caller of a protected create, if several nodes bear
/// its protection. Pure: operations_create.cpp reads the nodes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

/// The paths of those children of a parent that bear this protection, in the order of creation.
[[nodiscard]] std::vector<std::string> protected_nodes(const std::vector<std::string>& children,
                                                       std::string_view parent,
                                                       std::string_view protection);

/// The result of reading a node that bears the protection.
struct SeenNode {
  std::string path;
  Reply look;         ///< no_node: the node was deleted after it was listed
  bool ours = false;  ///< not ephemeral, or owned by the client's present session
};

/// The node to keep and the nodes to delete.
struct ProtectedChoice {
  std::optional<SeenNode> kept;
  /// To be deleted: further nodes of ours, and nodes of the client's earlier sessions.
  std::vector<SeenNode> surplus;
};

/// Keeps the lowest of our nodes. `nodes` are in the order of creation. If one of them could not be
/// read, no node is kept and none deleted: the unread node may be ours, and lower than the rest.
[[nodiscard]] ProtectedChoice choose(std::vector<SeenNode> nodes);

}  // namespace custodian::detail
