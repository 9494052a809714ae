#pragma once

/// \file
/// QueuedNode is the state of a node in a queue of contenders of one client. It is shared by
/// objects that may outlive the node's owner, such as the pending delete of the node. Used on the
/// strand only.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace custodian::detail {

struct QueuedNode {
  std::string path;  ///< as the server knows it
  std::int64_t session = 0;
  /// Its owner has released the node, and it is being deleted.
  bool left = false;
  /// The node that has taken the place of a node that has left.
  std::weak_ptr<QueuedNode> successor{};
  /// The servers do not have the node, though its owner has not released it.
  bool missing = false;
  std::function<void()> on_missing{};
};

using QueuedNodePtr = std::shared_ptr<QueuedNode>;

/// Follows the successors of a node that has left, to the node that has its place now; null if
/// there is none. A missing node counts as none, for its loss has been handled already.
[[nodiscard]] inline QueuedNodePtr last_successor(QueuedNodePtr node) {
  while (node && node->left) node = node->successor.lock();
  return node && !node->missing ? node : nullptr;
}

}  // namespace custodian::detail
