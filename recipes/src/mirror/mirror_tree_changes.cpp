/// \file
/// In this file a MirrorTree compares what was read with what is known, and reports the difference.

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "mirror/mirror_tree.hpp"

namespace custodian::recipes_detail {

namespace {

/// Whether a node is deleted with its session, and so has no children. Containers and nodes with a
/// TTL have an owner, too, which is no session (`org.apache.zookeeper.server.EphemeralType`).
bool is_ephemeral(const Stat& stat) {
  constexpr std::int64_t container = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t extended = 0xff;
  const std::int64_t owner = stat.ephemeral_owner;
  return owner != 0 && owner != container && static_cast<std::uint64_t>(owner) >> 56 != extended;
}

std::shared_ptr<MirroredNode> unread_node(const std::string& path) {
  auto node = std::make_shared<MirroredNode>();
  node->path = path;
  return node;
}

}  // namespace

bool MirrorTree::lists(Index index) const {
  const MirrorSlot& slot = nodes_.at(index);
  return slot.is_known && slot.level < options_.depth && !is_ephemeral(slot.node->stat);
}

// -- What the replies say -------------------------------------------------------------------------

void MirrorTree::compare(Index index, const Stat& stat, std::string data, MirrorAccess access) {
  MirrorSlot& slot = nodes_.at(index);
  const Stat known = slot.node->stat;
  if (!(slot.is_known && stat.czxid == known.czxid) && delay(index)) return;
  slot.data.armed = true;
  slot.in_doubt = false;
  const bool is_first = !std::exchange(slot.data.seen, true);
  slot.data.outdated = slot.is_known && !is_first && stat.czxid < known.czxid;
  if (!slot.is_known) {
    publish(index, stat, std::move(data), access);
  } else if (slot.data.outdated) {
    // The reply is from a server that lags behind: the watch fires when that server catches up.
  } else if (stat.czxid != known.czxid) {
    remove_below(index);
    publish(index, stat, std::move(data), access);
    slot.listing.seen = false;
    slot.listing.armed = false;
    slot.listing.refused = false;
    slot.listed_pzxid = 0;
  } else if (stat.mzxid > known.mzxid || (is_first && stat.mzxid != known.mzxid) ||
             (stat.mzxid == known.mzxid && access != slot.node->access)) {
    publish(index, stat, std::move(data), access);
  }
  list_later(index);
  leave_walk(slot.data);
}

bool MirrorTree::delay(Index index) {
  if (index == MirrorNodes::root) return false;
  const MirrorSlot& parent = nodes_.at(nodes_.at(index).parent);
  if (parent.data.armed || parent.listing.armed) return false;
  MirrorFacet& data = nodes_.at(index).data;
  data.dirty = true;
  data.seen = false;
  return true;
}

void MirrorTree::publish(Index index, const Stat& stat, std::string data, MirrorAccess access) {
  MirrorSlot& slot = nodes_.at(index);
  MirroredNodePtr before;
  if (slot.is_known) {
    before = slot.node;
    slot.node = unread_node(before->path);
  }
  // The object was not handed out yet, so it may still be changed.
  slot.node->data = std::move(data);
  slot.node->stat = stat;
  slot.node->access = access;
  slot.is_known = true;
  const auto kind = before ? MirrorChangeKind::changed : MirrorChangeKind::added;
  tell(kind, slot.node, std::move(before));
}

void MirrorTree::list_later(Index index) {
  MirrorSlot& slot = nodes_.at(index);
  if (!lists(index)) {
    leave_walk(slot.listing);
    slot.listing.dirty = false;
    return;
  }
  if (slot.listing.seen) return;
  if (slot.data.in_walk) join_walk(slot.listing);
  want(index, WatchKind::children);
}

void MirrorTree::merge(Index index, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) { return !is_accepted(index, name); });
  std::ranges::sort(names);
  remove_missing(index, names);
  const std::vector<Index> known = std::move(nodes_.at(index).children);
  std::vector<Index> merged;
  merged.reserve(names.size());
  auto next = known.begin();
  for (const std::string& name : names) {
    if (next != known.end() && nodes_.name_of(*next) == name) {
      merged.push_back(*next++);
      retry(merged.back());
    } else if (nodes_.size() < options_.max_nodes) {
      merged.push_back(nodes_.make_child(index, name));
    } else {
      overflowed_ = true;
    }
  }
  nodes_.at(index).children = std::move(merged);
}

void MirrorTree::read_unseen_children(Index index) {
  const bool in_walk = nodes_.at(index).listing.in_walk;
  for (const Index child : nodes_.at(index).children) {
    MirrorFacet& data = nodes_.at(child).data;
    if (data.seen) continue;
    if (in_walk) join_walk(data);
    want(child, WatchKind::data);
  }
}

void MirrorTree::remove_missing(Index index, const std::vector<std::string>& names) {
  std::vector<Index>& children = nodes_.at(index).children;
  const auto is_gone = [&](Index child) {
    return !std::ranges::binary_search(names, nodes_.name_of(child));
  };
  std::vector<Index> gone;
  std::ranges::copy_if(children, std::back_inserter(gone), is_gone);
  if (gone.empty()) return;
  std::erase_if(children, is_gone);
  for (const Index child : gone) remove(child);
}

bool MirrorTree::is_accepted(Index parent, std::string_view name) const {
  return !options_.accept || options_.accept(join(nodes_.at(parent).node->path, name));
}

void MirrorTree::retry(Index index) {
  MirrorSlot& slot = nodes_.at(index);
  if (slot.in_doubt) {
    if (!slot.data.reading) want(index, WatchKind::data);
    return;
  }
  if (slot.data.refused) {
    slot.by_existence = false;
    want(index, WatchKind::data);
  }
  if (slot.listing.refused) want(index, WatchKind::children);
}

// -- Removals -------------------------------------------------------------------------------------

void MirrorTree::doubt(Index index) {
  MirrorSlot& slot = nodes_.at(index);
  // One event ends both watches on a node. Another read of the deleted node would find nothing.
  for (MirrorFacet* each : {&slot.data, &slot.listing}) {
    each->armed = false;
    each->dirty = false;
  }
  slot.listing.seen = false;
  slot.in_doubt = true;
  slot.by_existence = index == MirrorNodes::root;  // which no list names
  // For any other node, the event of its parent's list comes next, or a read of that list is due.
  if (slot.by_existence) want(index, WatchKind::data);
}

void MirrorTree::remove(Index index) {
  remove_below(index);
  nodes_.detach(index);
  forget(index);
}

void MirrorTree::remove_below(Index index) {
  const std::vector<Index> all = nodes_.below(index);
  nodes_.at(index).children.clear();
  for (const Index each : all) forget(each);
}

void MirrorTree::forget(Index index) {
  MirrorSlot& slot = nodes_.at(index);
  if (slot.is_known) tell(MirrorChangeKind::removed, nullptr, std::move(slot.node));
  leave_walk(slot.data);
  leave_walk(slot.listing);
  released_.push_back(index);
  nodes_.free(index);
}

void MirrorTree::root_is_missing() {
  MirrorSlot& root = nodes_.at(MirrorNodes::root);
  if (std::exchange(root.is_known, false)) {
    remove_below(MirrorNodes::root);
    const MirroredNodePtr before = root.node;
    root.node = unread_node(before->path);
    tell(MirrorChangeKind::removed, nullptr, before);
  }
  root.by_existence = true;
  root.in_doubt = false;
  root.listed_pzxid = 0;
  root.data.armed = false;
  root.data.refused = false;
  root.listing.armed = false;
  root.listing.seen = false;
  root.listing.dirty = false;
  root.listing.refused = false;
  leave_walk(root.listing);
}

void MirrorTree::tell(MirrorChangeKind kind, MirroredNodePtr node, MirroredNodePtr before) {
  if (kind != MirrorChangeKind::synced) snapshot_.reset();
  changes_.push_back({kind, std::move(node), std::move(before)});
}

}  // namespace custodian::recipes_detail
