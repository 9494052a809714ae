#pragma once

/// \file
/// A node that stands in a line of its client's own contenders, for those who must know what has
/// become of it. Strand only.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace custodian::detail {

struct QueuedNode {
  std::string path;  ///< as the server knows it
  std::int64_t session = 0;
  /// Its owner has let go of it, and it is being deleted.
  bool left = false;
  /// Who has had its place since then.
  std::weak_ptr<QueuedNode> successor{};
  /// The servers do not have it, and nobody here has let go of it.
  bool missing = false;
  std::function<void()> on_missing{};
};

using QueuedNodePtr = std::shared_ptr<QueuedNode>;

/// Who has the place of these in the end; null if nobody has. One that was deleted saw to its own
/// heir.
[[nodiscard]] inline QueuedNodePtr last_successor(QueuedNodePtr node) {
  while (node && node->left) node = node->successor.lock();
  return node && !node->missing ? node : nullptr;
}

}  // namespace custodian::detail
