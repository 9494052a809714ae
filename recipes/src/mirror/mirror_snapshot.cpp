#include "custodian/mirror/mirror_snapshot.hpp"

#include <algorithm>

namespace custodian {

namespace {

/// The order of nodes(): a slash is less than every other byte, so that the nodes below a node
/// follow it at once.
bool is_before(std::string_view left, std::string_view right) {
  const auto rank = [](char byte) {
    return byte == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(byte)) + 1;
  };
  return std::ranges::lexicographical_compare(left, right, {}, rank, rank);
}

/// Whether a path is below another one.
bool is_below(std::string_view path, std::string_view above) {
  if (above == "/") return path.size() > 1;
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

}  // namespace

MirrorSnapshot::Nodes::const_iterator MirrorSnapshot::find(std::string_view path) const {
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), path,
                                      [](const MirroredNodePtr& node, std::string_view sought) {
                                        return is_before(node->path, sought);
                                      });
  return found != nodes_.end() && (*found)->path == path ? found : nodes_.end();
}

MirroredNodePtr MirrorSnapshot::get(std::string_view path) const {
  const auto found = find(path);
  return found == nodes_.end() ? nullptr : *found;
}

MirrorSnapshot::Nodes MirrorSnapshot::children(std::string_view path) const {
  Nodes children;
  auto next = find(path);
  if (next == nodes_.end()) return children;
  ++next;
  while (next != nodes_.end() && is_below((*next)->path, path)) {
    const MirroredNodePtr& child = children.emplace_back(*next);
    next = std::partition_point(std::next(next), nodes_.end(), [&](const MirroredNodePtr& node) {
      return is_below(node->path, child->path);
    });
  }
  return children;
}

}  // namespace custodian
