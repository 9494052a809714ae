#include "client/protected_nodes.hpp"

#include <algorithm>
#include <utility>

#include "base/paths.hpp"

namespace custodian::detail {

std::vector<std::string> protected_nodes(const std::vector<std::string>& children,
                                         std::string_view parent, std::string_view protection) {
  std::vector<std::string> paths;
  for (const std::string& name : children) {
    if (name.find(protection) != std::string::npos) paths.push_back(join(parent, name));
  }
  // All names have the same prefix, so they sort by their sequence numbers.
  std::ranges::sort(paths);
  return paths;
}

ProtectedChoice choose(std::vector<SeenNode> nodes) {
  ProtectedChoice choice;
  for (SeenNode& node : nodes) {
    if (node.look.error == ServerErrc::no_node) continue;
    if (node.look.error) return {};
    if (node.ours && !choice.kept) {
      choice.kept = std::move(node);
    } else {
      choice.surplus.push_back(std::move(node));
    }
  }
  return choice;
}

}  // namespace custodian::detail
