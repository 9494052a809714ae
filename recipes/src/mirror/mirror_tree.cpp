#include "mirror/mirror_tree.hpp"

#include <algorithm>
#include <utility>

namespace custodian::recipes_detail {

namespace {

/// The object of a read, and of the watch that it arms.
WatchKind kind_of(MirrorRead what) {
  return what == MirrorRead::children ? WatchKind::children : WatchKind::data;
}

}  // namespace

MirrorTree::MirrorTree(std::string root, MirrorOptions options)
    : options_{std::move(options)}, nodes_{std::move(root)} {
  MirrorFacet& data = nodes_.at(MirrorNodes::root).data;
  data.dirty = true;
  join_walk(data);
}

// -- The session ----------------------------------------------------------------------------------

void MirrorTree::connected() {
  is_connected_ = true;
  enqueue(MirrorNodes::root, WatchKind::data);
}

void MirrorTree::session_lost() {
  ++session_;
  is_connected_ = false;
  queue_.clear();
  under_way_ = 0;
  walk_ = 0;
  if (state_ == MirrorState::synced) state_ = MirrorState::resyncing;
  const auto unread = [](const MirrorFacet& before) {
    MirrorFacet facet;
    facet.dirty = true;
    facet.refused = before.refused;  // so that a refusal is reported once
    return facet;
  };
  nodes_.for_each([&](Index index) {
    MirrorSlot& slot = nodes_.at(index);
    slot.data = unread(slot.data);
    slot.listing = unread(slot.listing);
    slot.by_existence = false;
    slot.in_doubt = false;
  });
  join_walk(nodes_.at(MirrorNodes::root).data);
}

// -- Reads ----------------------------------------------------------------------------------------

std::optional<PlannedRead> MirrorTree::next_read() {
  while (is_connected_ && !overflowed_ && under_way_ < max_reads && !queue_.empty()) {
    const QueuedRead next = queue_.front();
    queue_.pop_front();
    if (!nodes_.is_current(next.index, next.generation)) continue;
    MirrorFacet& wanted = facet(next.index, next.kind);
    wanted.queued = false;
    if (!wanted.dirty) continue;
    wanted.dirty = false;
    wanted.reading = true;
    ++under_way_;
    const MirrorSlot& slot = nodes_.at(next.index);
    const bool by_existence = slot.by_existence || options_.data == MirrorData::not_kept;
    const MirrorRead what = next.kind == WatchKind::children ? MirrorRead::children
                            : by_existence                   ? MirrorRead::existence
                                                             : MirrorRead::data;
    return PlannedRead{{next.index, next.generation, session_, what}, slot.node->path};
  }
  return std::nullopt;
}

MirrorFacet& MirrorTree::facet(Index index, WatchKind kind) {
  MirrorSlot& slot = nodes_.at(index);
  return kind == WatchKind::data ? slot.data : slot.listing;
}

void MirrorTree::want(Index index, WatchKind kind) {
  facet(index, kind).dirty = true;
  enqueue(index, kind);
}

void MirrorTree::enqueue(Index index, WatchKind kind) {
  MirrorFacet& wanted = facet(index, kind);
  if (!is_connected_ || !wanted.dirty || wanted.queued || wanted.reading) return;
  // The children are listed only after a read has shown which node of this name exists:
  // list_later().
  if (kind == WatchKind::children && !nodes_.at(index).data.seen) return;
  wanted.queued = true;
  queue_.push_back({index, nodes_.at(index).generation, kind});
}

void MirrorTree::join_walk(MirrorFacet& facet) {
  if (!std::exchange(facet.in_walk, true)) ++walk_;
}

void MirrorTree::leave_walk(MirrorFacet& facet) {
  if (std::exchange(facet.in_walk, false)) --walk_;
}

void MirrorTree::end_walk_if_over() {
  if (!is_connected_ || walk_ != 0 || overflowed_ || state_ == MirrorState::synced) return;
  state_ = MirrorState::synced;
  tell(MirrorChangeKind::synced, nullptr, nullptr);
}

bool MirrorTree::answered(const MirrorReadId& read) {
  if (read.session != session_) return false;
  --under_way_;
  if (!nodes_.is_current(read.index, read.generation)) return false;
  facet(read.index, kind_of(read.what)).reading = false;
  enqueue(read.index, kind_of(read.what));  // an event may have come before the reply
  return true;
}

// -- Replies --------------------------------------------------------------------------------------

bool MirrorTree::on_data(const MirrorReadId& read, GetResult found) {
  if (!answered(read)) return false;
  MirrorSlot& slot = nodes_.at(read.index);
  const bool is_permitted_now = std::exchange(slot.data.refused, false);
  slot.by_existence = false;
  compare(read.index, found.stat, std::move(found.data), MirrorAccess::granted);
  if (is_permitted_now && slot.listing.refused) want(read.index, WatchKind::children);
  end_walk_if_over();
  return true;
}

bool MirrorTree::on_existence(const MirrorReadId& read, const std::optional<Stat>& found) {
  if (!answered(read)) return false;
  MirrorSlot& slot = nodes_.at(read.index);
  if (!found && read.index != MirrorNodes::root) {
    remove(read.index);
    end_walk_if_over();
    return false;
  }
  if (!found) {
    root_is_missing();
    slot.data.seen = true;
    slot.data.armed = true;
    leave_walk(slot.data);
  } else if (slot.data.refused) {
    compare(read.index, *found, {}, MirrorAccess::refused);
  } else if (options_.data == MirrorData::not_kept) {
    compare(read.index, *found, {}, MirrorAccess::granted);
  } else {
    slot.by_existence = false;
    want(read.index, WatchKind::data);
  }
  end_walk_if_over();
  return true;
}

bool MirrorTree::on_children(const MirrorReadId& read, Children found) {
  if (!answered(read) || !lists(read.index)) return false;
  MirrorSlot& slot = nodes_.at(read.index);
  MirrorFacet& listing = slot.listing;
  listing.refused = false;
  if (found.stat.czxid > slot.node->stat.czxid) {  // created anew: its data come first
    want(read.index, WatchKind::data);
    want(read.index, WatchKind::children);
    return true;
  }
  listing.armed = true;
  listing.outdated = found.stat.czxid < slot.node->stat.czxid;
  const bool is_first = !std::exchange(listing.seen, true);
  if (!listing.outdated && (is_first || found.stat.pzxid >= slot.listed_pzxid)) {
    slot.listed_pzxid = found.stat.pzxid;
    merge(read.index, std::move(found.names));
  }
  read_unseen_children(read.index);
  leave_walk(facet(read.index, WatchKind::children));
  end_walk_if_over();
  return true;
}

void MirrorTree::on_missing(const MirrorReadId& read) {
  if (!answered(read)) return;
  if (read.index != MirrorNodes::root) {
    remove(read.index);
  } else if (nodes_.at(read.index).is_known || read.what != MirrorRead::children) {
    root_is_missing();
    want(read.index, WatchKind::data);
  }
  end_walk_if_over();
}

void MirrorTree::on_refused(const MirrorReadId& read) {
  if (!answered(read)) return;
  MirrorSlot& slot = nodes_.at(read.index);
  MirrorFacet& refused = facet(read.index, kind_of(read.what));
  if (!std::exchange(refused.refused, true)) refusals_.push_back(slot.node->path);
  if (read.what == MirrorRead::children) {
    refused.seen = true;
    refused.armed = false;
    remove_below(read.index);
    leave_walk(nodes_.at(read.index).listing);
  } else {  // every client may learn that a node exists
    slot.by_existence = true;
    want(read.index, WatchKind::data);
  }
  end_walk_if_over();
}

void MirrorTree::on_failed(const MirrorReadId& read) {
  if (answered(read)) want(read.index, kind_of(read.what));
}

void MirrorTree::on_watch_ended(const MirrorReadId& read, WatchEventType event) {
  if (read.session != session_ || !nodes_.is_current(read.index, read.generation)) return;
  const WatchKind kind = kind_of(read.what);
  MirrorFacet& watched = facet(read.index, kind);
  if (!std::exchange(watched.armed, false)) return;
  if (kind == WatchKind::data) nodes_.at(read.index).by_existence = false;
  if (event != WatchEventType::deleted || watched.outdated) return want(read.index, kind);
  doubt(read.index);
}

bool MirrorTree::root_is_refused() const {
  const MirrorSlot& root = nodes_.at(MirrorNodes::root);
  return root.data.refused || root.listing.refused;
}

bool MirrorTree::retry_root() {
  if (!root_is_refused()) return false;
  retry(MirrorNodes::root);
  return true;
}

// -- What follows ---------------------------------------------------------------------------------

std::vector<MirrorChange> MirrorTree::take_changes() { return std::exchange(changes_, {}); }

std::vector<MirrorNodes::Index> MirrorTree::take_released() { return std::exchange(released_, {}); }

std::vector<std::string> MirrorTree::take_refusals() { return std::exchange(refusals_, {}); }

bool MirrorTree::will_read(std::string_view path, WatchKind kind) const {
  const auto index = nodes_.find(path);
  if (!index) return false;
  const MirrorSlot& slot = nodes_.at(*index);
  const MirrorFacet& asked = kind == WatchKind::data ? slot.data : slot.listing;
  return asked.dirty || asked.reading;
}

bool MirrorTree::is_in_doubt(std::string_view path) const {
  const auto index = nodes_.find(path);
  return index && nodes_.at(*index).in_doubt;
}

MirroredNodePtr MirrorTree::get(std::string_view path) const {
  const auto index = nodes_.find(path);
  return index && nodes_.at(*index).is_known ? nodes_.at(*index).node : nullptr;
}

std::vector<MirroredNodePtr> MirrorTree::children(std::string_view path) const {
  std::vector<MirroredNodePtr> known;
  const auto index = nodes_.find(path);
  if (!index) return known;
  for (const Index child : nodes_.at(*index).children) {
    if (nodes_.at(child).is_known) known.push_back(nodes_.at(child).node);
  }
  return known;
}

MirrorSnapshotPtr MirrorTree::snapshot() const {
  if (snapshot_) return snapshot_;
  MirrorSnapshot::Nodes known;
  known.reserve(nodes_.size());
  nodes_.for_each([&](Index index) {
    if (nodes_.at(index).is_known) known.push_back(nodes_.at(index).node);
  });
  snapshot_ = std::make_shared<MirrorSnapshot>(std::move(known));
  return snapshot_;
}

}  // namespace custodian::recipes_detail
