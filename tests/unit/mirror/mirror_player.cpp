#include "unit/mirror/mirror_player.hpp"

#include <algorithm>

#include "custodian/authoring/path.hpp"

namespace custodian::tests {

using recipes_detail::MirrorNodes;
using recipes_detail::MirrorTree;

MirrorPlayer::MirrorPlayer(MirrorOptions options, std::string root)
    : tree{root, options}, options_{std::move(options)}, root_{std::move(root)} {}

void MirrorPlayer::send_reads() {
  while (auto read = tree.next_read()) {
    ++reads;
    requests.push_back(std::move(*read));
  }
  if (requests.size() > MirrorTree::max_reads) complain("too many reads are under way");
}

void MirrorPlayer::serve(int place) {
  const auto at = requests.begin() + place;
  server.serve(*at);
  requests.erase(at);
}

void MirrorPlayer::deliver() {
  SimulatedServer::Message message = std::move(server.messages.front());
  server.messages.pop_front();
  if (message.read) {
    on_reply(std::move(message));
  } else {
    on_event(message);
  }
  after_step();
}

void MirrorPlayer::on_reply(SimulatedServer::Message message) {
  seen_ = std::max(seen_, message.zxid);
  const MirrorReadId id = message.read->id;
  bool keep = false;
  bool on_absence = false;
  if (id.what == MirrorRead::existence) {
    on_absence = static_cast<bool>(message.error);
    keep = tree.on_existence(id, on_absence ? std::nullopt : std::optional{message.found.stat});
  } else if (message.error == ServerErrc::no_node) {
    tree.on_missing(id);
  } else if (message.error) {
    tree.on_refused(id);
  } else if (id.what == MirrorRead::children) {
    keep = tree.on_children(id, {std::move(message.names), message.found.stat});
  } else {
    keep = tree.on_data(id, std::move(message.found));
  }
  if (!keep) return;
  const WatchedThing thing{message.read->path, watched_by(id.what)};
  Kept& kept = kept_[{id.index, thing.kind}];
  if (!kept.thing.path.empty()) watched_.erase(watched_.find(kept.thing));
  kept = {id, thing, on_absence};
  watched_.insert(thing);
}

void MirrorPlayer::on_event(const SimulatedServer::Message& message) {
  // A deletion ends both watches on the node.
  for (const WatchKind kind : {WatchKind::data, WatchKind::children}) {
    const WatchedThing thing{message.watch.path, kind};
    const bool concerned = message.event == WatchEventType::deleted || message.watch.kind == kind;
    const auto found =
        std::ranges::find_if(kept_, [&](const auto& each) { return each.second.thing == thing; });
    if (!concerned || found == kept_.end()) continue;
    const MirrorReadId id = found->second.id;
    watched_.erase(watched_.find(thing));
    kept_.erase(found);
    tree.on_watch_ended(id, message.event);
  }
}

void MirrorPlayer::reconnect(std::size_t dropped) {
  // The client repeats the reads whose replies are lost, in front of those that were not sent.
  std::deque<PlannedRead> again;
  for (const auto& message : server.messages) {
    if (message.read && message.read->id.session == session_) again.push_back(*message.read);
  }
  again.insert(again.end(), requests.begin(), requests.end());
  requests = std::move(again);
  server.messages.clear();
  for (; dropped > 0 && !kept_.empty(); --dropped) {
    const Kept kept = kept_.begin()->second;
    kept_.erase(kept_.begin());
    watched_.erase(watched_.find(kept.thing));
    tree.on_watch_ended(kept.id, kept.thing.kind == WatchKind::data
                                     ? WatchEventType::data_changed
                                     : WatchEventType::children_changed);
  }
  std::set<WatchedThing> watches;
  std::set<WatchedThing> absent;
  for (const auto& [place, kept] : kept_) {
    watches.insert(kept.thing);
    if (kept.on_absence) absent.insert(kept.thing);
  }
  server.restore(watches, absent, seen_);
  after_step();
}

void MirrorPlayer::lose_session() {
  connected_ = false;
  ++session_;
  tree.session_lost();
  kept_.clear();
  watched_.clear();
  requests.clear();
  server.armed.clear();
  std::erase_if(server.messages, [](const auto& message) { return !message.read; });
  after_step();
}

void MirrorPlayer::settle() {
  for (;;) {
    send_reads();
    if (!server.messages.empty()) {
      deliver();
    } else if (!requests.empty()) {
      serve();
    } else {
      break;
    }
    if (!violation.empty()) return;
  }
  if (!tree.idle()) complain("the tree waits for nothing");
}

void MirrorPlayer::after_step() {
  for (const MirrorNodes::Index index : tree.take_released()) {
    for (const WatchKind kind : {WatchKind::data, WatchKind::children}) {
      const auto kept = kept_.find({index, kind});
      if (kept == kept_.end()) continue;
      watched_.erase(watched_.find(kept->second.thing));
      kept_.erase(kept);
    }
  }
  std::set<std::string> removed;
  for (const MirrorChange& change : tree.take_changes()) {
    if (change.kind == MirrorChangeKind::removed) removed.insert(change.before->path);
    if (change.kind == MirrorChangeKind::added && removed.contains(change.node->path)) {
      complain("R2: removed only to be added: " + change.node->path);
    }
    apply(change);
  }
  check();
}

void MirrorPlayer::apply(const MirrorChange& change) {
  const std::string path = change.node     ? change.node->path
                           : change.before ? change.before->path
                                           : "";
  const bool is_replaced =
      change.node && change.before && change.node->stat.czxid != change.before->stat.czxid;
  const std::string what{is_replaced ? "replaced" : to_string(change.kind)};
  told.push_back(what + (path.empty() ? "" : " " + path));
  const auto next = replayed_.lower_bound(path + "/");
  const bool has_children = next != replayed_.end() && next->first.starts_with(path + "/");
  const auto known = replayed_.find(path);
  switch (change.kind) {
    case MirrorChangeKind::synced: break;
    case MirrorChangeKind::added:
      if (known != replayed_.end()) complain("added twice: " + path);
      if (change.before) complain("an addition with something before it");
      if (!ever_added_.insert({path, change.node->stat.czxid}).second && !may_repeat) {
        complain("told twice: " + path);
      }
      if (path != root_ && !replayed_.contains(std::string{parent_of(path)})) {
        complain("added before its parent: " + path);
      }
      replayed_[path] = change.node;
      break;
    case MirrorChangeKind::changed:
      if (known == replayed_.end()) return complain("changed before it was there: " + path);
      if (known->second != change.before) complain("changed from something else: " + path);
      if (is_replaced && has_children) complain("replaced before its children: " + path);
      if (is_replaced && !ever_added_.insert({path, change.node->stat.czxid}).second &&
          !may_repeat) {
        complain("told twice: " + path);
      }
      if (*change.before == *change.node) complain("changed to the same: " + path);
      known->second = change.node;
      break;
    case MirrorChangeKind::removed:
      if (known == replayed_.end()) return complain("removed and not there: " + path);
      if (known->second != change.before) complain("removed something else: " + path);
      if (has_children) complain("removed before its children: " + path);
      replayed_.erase(known);
      break;
  }
}

void MirrorPlayer::check() {
  const MirrorSnapshotPtr snapshot = tree.snapshot();
  if (snapshot->size() != replayed_.size()) complain("the changes do not give the snapshot");
  for (const MirroredNodePtr& node : snapshot->nodes()) {
    const auto known = replayed_.find(node->path);
    if (known == replayed_.end() || known->second != node) {
      complain("the changes do not give the snapshot: " + node->path);
    }
    if (snapshot->get(node->path) != node) complain("not found in the snapshot: " + node->path);
    if (tree.get(node->path) != node) complain("not found: " + node->path);
  }
  if (!connected_) return;
  if (snapshot->empty()) return check_fact(root_, WatchKind::data);
  for (const MirroredNodePtr& node : snapshot->nodes()) {
    check_fact(node->path, WatchKind::data);
    const auto slashes = [](const std::string& path) {
      return path == "/" ? 0 : static_cast<std::size_t>(std::ranges::count(path, '/'));
    };
    const std::size_t level = slashes(node->path) - slashes(root_);
    const bool has_session = node->stat.ephemeral_owner > 0;
    const bool is_refused =
        node->access == MirrorAccess::refused || server.refused.contains(node->path);
    if (level < options_.depth && !has_session && !is_refused) {
      check_fact(node->path, WatchKind::children);
    }
  }
}

/// R1: a watch that is armed on the server, or whose event is on its way; or a read to come.
void MirrorPlayer::check_fact(const std::string& path, WatchKind kind) {
  const WatchedThing thing{path, kind};
  const std::string what = path + (kind == WatchKind::data ? " (data)" : " (children)");
  if (tree.will_read(path, kind)) return;
  if (tree.is_in_doubt(path)) return check_doubt(path);
  if (!watched_.contains(thing)) return complain("R1: not covered: " + what);
  if (!server.armed.contains(thing) && !event_is_coming(thing)) {
    complain("R1: covered by a watch that no server has: " + what);
  }
}

/// R2: the node or its parent's list will be read, or the parent is in doubt, too.
void MirrorPlayer::check_doubt(const std::string& path) {
  if (tree.will_read(path, WatchKind::data)) return;
  const std::string parent{parent_of(path)};
  if (tree.is_in_doubt(parent) || tree.will_read(parent, WatchKind::data)) return;
  if (tree.will_read(parent, WatchKind::children)) return;
  const WatchedThing list{parent, WatchKind::children};
  if (watched_.contains(list) && event_is_coming(list)) return;
  complain("R2: in doubt for ever: " + path);
}

bool MirrorPlayer::event_is_coming(const WatchedThing& thing) const {
  return std::ranges::any_of(server.messages, [&](const auto& message) {
    return !message.read && message.watch.path == thing.path &&
           (message.watch.kind == thing.kind || message.event == WatchEventType::deleted);
  });
}

void MirrorPlayer::collect(const std::string& path, std::size_t level,
                           std::vector<std::string>& all) const {
  all.push_back(path);
  if (level == options_.depth || server.refused.contains(path)) return;
  for (const std::string& name : server.at(path).children) {
    const std::string child = join(path, name);
    if (!options_.accept || options_.accept(child)) collect(child, level + 1, all);
  }
}

std::vector<std::string> MirrorPlayer::visible() const {
  std::vector<std::string> all;
  if (server.exists(root_)) collect(root_, 0, all);
  return all;
}

std::string MirrorPlayer::difference() const {
  const std::vector<std::string> expected = visible();
  const MirrorSnapshotPtr snapshot = tree.snapshot();
  if (tree.state() != MirrorState::synced) return "not in sync";
  if (snapshot->size() != expected.size()) {
    return std::to_string(snapshot->size()) + " nodes instead of " +
           std::to_string(expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const MirroredNode& node = *snapshot->nodes()[i];
    if (node.path != expected[i]) return node.path + " instead of " + expected[i];
    const auto& there = server.at(node.path);
    const bool has_data = options_.data == MirrorData::kept && node.access == MirrorAccess::granted;
    if (node.data != (has_data ? there.data : "")) return "other data: " + node.path;
    if (node.stat.czxid != there.stat.czxid) return "another node: " + node.path;
    if (node.stat.mzxid != there.stat.mzxid) return "an earlier write: " + node.path;
  }
  return {};
}

}  // namespace custodian::tests
