#pragma once

/// \file
/// SimulatedServer is as much of a ZooKeeper server as a mirror sees: a tree, one-shot watches, and
/// the rules by which a reconnection restores them (docs of SetWatches in `DataTree.setWatches`).
/// Its client is a mirror tree that a test drives step by step.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/path.hpp"
#include "mirror/mirror_tree.hpp"

namespace custodian::tests {

using recipes_detail::MirrorRead;
using recipes_detail::MirrorReadId;
using recipes_detail::PlannedRead;

/// The kind of the watch that a read arms.
inline WatchKind watched_by(MirrorRead what) {
  return what == MirrorRead::children ? WatchKind::children : WatchKind::data;
}

struct WatchedThing {
  std::string path;
  WatchKind kind = WatchKind::data;
  friend auto operator<=>(const WatchedThing&, const WatchedThing&) = default;
};

class SimulatedServer {
 public:
  struct Node {
    std::string data{};
    Stat stat{};
    std::set<std::string> children{};
  };
  /// A message to the client: the reply to a read, or the event of a watch.
  struct Message {
    std::optional<PlannedRead> read{};  ///< empty for an event
    error_code error{};
    GetResult found{};
    std::vector<std::string> names{};
    WatchedThing watch{};
    WatchEventType event = WatchEventType::deleted;
    std::int64_t zxid = 0;
  };

  SimulatedServer() { nodes_["/"]; }

  [[nodiscard]] const std::map<std::string, Node>& nodes() const { return nodes_; }
  [[nodiscard]] bool exists(const std::string& path) const { return nodes_.contains(path); }
  [[nodiscard]] const Node& at(const std::string& path) const { return nodes_.at(path); }
  [[nodiscard]] int changes() const { return changes_; }

  void create(const std::string& path, std::string data = {}, std::int64_t owner = 0) {
    Node node{.data = std::move(data)};
    node.stat.czxid = node.stat.mzxid = node.stat.pzxid = ++zxid_;
    node.stat.ephemeral_owner = owner;
    nodes_[path] = std::move(node);
    const std::string parent{parent_of(path)};
    nodes_.at(parent).children.emplace(name_of(path));
    nodes_.at(parent).stat.pzxid = zxid_;
    ++changes_;
    fire({path, WatchKind::data}, WatchEventType::created);
    fire({parent, WatchKind::children}, WatchEventType::children_changed);
  }
  void set(const std::string& path, std::string data) {
    Node& node = nodes_.at(path);
    node.data = std::move(data);
    node.stat.mzxid = ++zxid_;
    ++node.stat.version;
    ++changes_;
    fire({path, WatchKind::data}, WatchEventType::data_changed);
  }
  /// Removes a node and all below it, one by one.
  void remove(const std::string& path) {
    for (const std::string& name : std::set<std::string>{nodes_.at(path).children}) {
      remove(join(path, name));
    }
    nodes_.erase(path);
    const std::string parent{parent_of(path)};
    nodes_.at(parent).children.erase(std::string{name_of(path)});
    nodes_.at(parent).stat.pzxid = ++zxid_;
    ++changes_;
    // One event ends both watches on the node.
    const bool is_listed = armed.erase({path, WatchKind::children}) != 0;
    if (is_listed) armed.insert({path, WatchKind::data});
    fire({path, WatchKind::data}, WatchEventType::deleted);
    fire({parent, WatchKind::children}, WatchEventType::children_changed);
  }

  /// Puts another node, without children, in the place of one, in one transaction.
  void replace(const std::string& path, std::string data = {}, std::int64_t owner = 0) {
    remove(path);
    create(path, std::move(data), owner);
  }

  /// Answers a read, and arms its watch.
  void serve(const PlannedRead& read) {
    Message reply{.read = read, .zxid = zxid_};
    const auto found = nodes_.find(read.path);
    const WatchedThing thing{read.path, watched_by(read.id.what)};
    if (refused.contains(read.path) && read.id.what != MirrorRead::existence) {
      reply.error = found == nodes_.end() ? ServerErrc::no_node : ServerErrc::no_auth;
    } else if (found == nodes_.end()) {
      reply.error = ServerErrc::no_node;
      if (read.id.what == MirrorRead::existence) armed.insert(thing);
    } else {
      reply.found = {found->second.data, found->second.stat};
      if (read.id.what != MirrorRead::data) reply.found.data.clear();
      if (read.id.what == MirrorRead::children) {
        reply.names.assign(found->second.children.begin(), found->second.children.end());
      }
      armed.insert(thing);
    }
    messages.push_back(std::move(reply));
  }

  /// Does the work of SetWatches on the next connection of a session. `absent` are watches on
  /// missing nodes.
  void restore(const std::set<WatchedThing>& watches, const std::set<WatchedThing>& absent,
               std::int64_t since) {
    armed.clear();
    for (const WatchedThing& watch : watches) {
      const auto found = nodes_.find(watch.path);
      std::optional<WatchEventType> event;
      if (found == nodes_.end()) {
        if (!absent.contains(watch)) event = WatchEventType::deleted;
      } else if (absent.contains(watch)) {
        event = WatchEventType::created;
      } else if (watch.kind == WatchKind::data && found->second.stat.mzxid > since) {
        event = WatchEventType::data_changed;
      } else if (watch.kind == WatchKind::children && found->second.stat.pzxid > since) {
        event = WatchEventType::children_changed;
      }
      if (event) {
        messages.push_back({.watch = watch, .event = *event, .zxid = zxid_});
      } else {
        armed.insert(watch);
      }
    }
  }

  std::deque<Message> messages;     ///< to the client, in order
  std::set<WatchedThing> armed;     ///< the watches of the session
  std::set<std::string> refused{};  ///< paths that the client may not read

 private:
  void fire(const WatchedThing& watch, WatchEventType event) {
    if (armed.erase(watch) == 0) return;
    messages.push_back({.watch = watch, .event = event, .zxid = zxid_});
  }

  std::map<std::string, Node> nodes_;
  std::int64_t zxid_ = 0;
  int changes_ = 0;
};

}  // namespace custodian::tests
