#pragma once

/// \file
/// *choose()* decides which of the nodes that bear the protection of one create is its caller's.
/// Pure: operations_create.cpp does the looking.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

/// The nodes among a parent's children that bear this protection, in the order in which they were
/// created.
[[nodiscard]] std::vector<std::string> protected_nodes(const std::vector<std::string>& children,
                                                       std::string_view parent,
                                                       std::string_view protection);

/// The result of reading one of them.
struct SeenNode {
  std::string path;
  Reply look;         ///< no_node: it has gone since it was listed
  bool ours = false;  ///< it is no ephemeral node, or one of the client's present session
};

/// What becomes of the nodes.
struct ProtectedChoice {
  std::optional<SeenNode> kept;
  /// A second node of ours, or one of an earlier session of ours: to be deleted.
  std::vector<SeenNode> surplus;
};

/// The lowest of ours is kept. `nodes` are in their order. If one of them could not be read none is
/// kept, and none deleted: it may be ours, and lower than the rest.
[[nodiscard]] ProtectedChoice choose(std::vector<SeenNode> nodes);

}  // namespace custodian::detail
