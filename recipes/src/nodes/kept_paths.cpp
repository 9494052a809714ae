#include "nodes/kept_paths.hpp"

#include <vector>

namespace custodian::recipes_detail {

NodeKeeperPtr KeptPaths::enter(const NodeKeeperPtr& keeper) {
  const std::lock_guard lock{mutex_};
  if (is_closing_) throw Error{Errc::closed, "PersistentNode", keeper->given_path()};
  std::erase_if(all_, [](const auto& each) { return each.second.expired(); });
  // A node with a unique name, which may be unknown yet, shares its path with no other object.
  const std::string key = keeper->shares_its_path()
                              ? keeper->given_path()
                              : keeper->given_path() + "/" + std::to_string(++number_);
  std::weak_ptr<NodeKeeper>& known = all_[key];
  NodeKeeperPtr before = known.lock();
  if (before && before->state() != PersistentNodeState::closed && !before->is_closing()) {
    throw Error{Errc::invalid_argument, "PersistentNode", key,
                "another PersistentNode of this client keeps this path"};
  }
  known = keeper;
  return before;
}

void KeptPaths::begin_shutdown() {
  std::vector<NodeKeeperPtr> present;
  {
    const std::lock_guard lock{mutex_};
    is_closing_ = true;
    for (const auto& [path, weak] : all_) {
      if (NodeKeeperPtr keeper = weak.lock()) present.push_back(std::move(keeper));
    }
  }
  for (const NodeKeeperPtr& keeper : present) keeper->client_closes();
}

}  // namespace custodian::recipes_detail
