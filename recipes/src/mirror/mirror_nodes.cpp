#include "mirror/mirror_nodes.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

MirrorNodes::MirrorNodes(std::string root_path) {
  MirrorSlot& slot = slots_.emplace_back();
  slot.node = std::make_shared<MirroredNode>();
  slot.node->path = std::move(root_path);
  slot.is_used = true;
}

std::string_view MirrorNodes::name_of(Index index) const {
  return custodian::name_of(slots_[index].node->path);
}

std::vector<MirrorNodes::Index>::const_iterator MirrorNodes::child_at(const MirrorSlot& parent,
                                                                      std::string_view name) const {
  return std::lower_bound(
      parent.children.begin(), parent.children.end(), name,
      [this](Index child, std::string_view sought) { return name_of(child) < sought; });
}

std::optional<MirrorNodes::Index> MirrorNodes::find(std::string_view path) const {
  const std::string_view top = slots_[root].node->path;
  if (path == top) return root;
  std::string_view rest = path;
  if (top != "/") {
    if (!rest.starts_with(top)) return std::nullopt;
    rest.remove_prefix(top.size());
  }
  Index index = root;
  while (!rest.empty()) {
    if (!rest.starts_with('/')) return std::nullopt;
    rest.remove_prefix(1);
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    const MirrorSlot& parent = slots_[index];
    const auto child = child_at(parent, name);
    if (child == parent.children.end() || name_of(*child) != name) return std::nullopt;
    index = *child;
  }
  return index;
}

MirrorNodes::Index MirrorNodes::make_child(Index parent, std::string_view name) {
  auto node = std::make_shared<MirroredNode>();
  node->path = join(slots_[parent].node->path, name);
  Index index = 0;
  if (free_.empty()) {
    index = static_cast<Index>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  MirrorSlot& slot = slots_[index];
  slot.node = std::move(node);
  slot.parent = parent;
  slot.level = slots_[parent].level + 1;
  slot.is_used = true;
  ++size_;
  return index;
}

void MirrorNodes::detach(Index index) {
  MirrorSlot& parent = slots_[slots_[index].parent];
  const auto child = child_at(parent, name_of(index));
  if (child != parent.children.end() && *child == index) parent.children.erase(child);
}

void MirrorNodes::free(Index index) {
  MirrorSlot& slot = slots_[index];
  const std::uint32_t generation = slot.generation + 1;
  slot = MirrorSlot{};
  slot.generation = generation;
  free_.push_back(index);
  --size_;
}

std::vector<MirrorNodes::Index> MirrorNodes::below(Index index) const {
  std::vector<Index> all{slots_[index].children};
  for (std::size_t next = 0; next < all.size(); ++next) {
    const auto& children = slots_[all[next]].children;
    all.insert(all.end(), children.begin(), children.end());
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace custodian::recipes_detail
