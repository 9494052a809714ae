#include "fake/fake_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

namespace custodian::testing {

namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string join(const std::string& parent, const std::string& name) {
  return parent == "/" ? "/" + name : parent + "/" + name;
}

std::string sequence_digits(std::int32_t sequence) {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%010d", sequence);
  return digits.data();
}

Reply failed(ServerErrc code) {
  Reply reply;
  reply.error = code;
  return reply;
}

}  // namespace

/// The session that a write comes from, and the changes that the write has made so far.
struct FakeTree::Write {
  std::int64_t session = 0;
  std::vector<TreeChange>& changes;
};

FakeTree::FakeTree() { nodes_["/"].acl = open_acl(); }

const FakeTree::Node* FakeTree::find(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

Stat FakeTree::stat_of(const Node& node) {
  Stat stat = node.stat;
  stat.data_length = static_cast<std::int32_t>(node.data.size());
  stat.child_count = static_cast<std::int32_t>(node.children.size());
  // The server counts creations only, but the version that it shows counts creations and deletions
  // (DataNode.copyStat).
  stat.children_version = static_cast<std::int32_t>(
      std::int64_t{2} * node.creates - static_cast<std::int64_t>(node.children.size()));
  return stat;
}

Reply FakeTree::apply(const Request& request, std::int64_t session,
                      std::vector<TreeChange>& changes) {
  if (!is_write(request)) return read(request);
  ++zxid_;  // a failed request is a transaction, too
  Write write{session, changes};
  Reply reply;
  if (const auto* each = std::get_if<request::Create>(&request)) reply = create(*each, write);
  if (const auto* each = std::get_if<request::Remove>(&request)) reply = remove(*each, write);
  if (const auto* each = std::get_if<request::Set>(&request)) reply = set(*each, write);
  if (const auto* each = std::get_if<request::SetAcl>(&request)) reply = set_acl(*each);
  if (const auto* each = std::get_if<request::Multi>(&request)) reply = multi(*each, write);
  return reply;
}

Reply FakeTree::create(const request::Create& request, Write& write) {
  const auto parent = nodes_.find(parent_of(request.path));
  if (request.path == "/") return failed(ServerErrc::node_exists);
  if (parent == nodes_.end()) return failed(ServerErrc::no_node);
  if (refuses(request.path) || refuses(parent->first)) return failed(ServerErrc::no_auth);
  if (request.acl.empty()) return failed(ServerErrc::invalid_acl);
  std::string path = request.path;
  if (is_sequential(request.mode)) path += sequence_digits(parent->second.creates);
  if (nodes_.contains(path)) return failed(ServerErrc::node_exists);
  if (is_ephemeral(parent->second.mode)) return failed(ServerErrc::no_children_for_ephemerals);

  Node node;
  node.data = request.data;
  node.acl = request.acl;
  node.mode = request.mode;
  node.stat.czxid = node.stat.mzxid = node.stat.pzxid = zxid_;
  node.stat.created = node.stat.modified = std::chrono::system_clock::now();
  if (is_ephemeral(request.mode)) node.stat.ephemeral_owner = write.session;
  // As in ZooKeeper the counter sticks at its maximum, and names repeat.
  if (parent->second.creates < std::numeric_limits<std::int32_t>::max()) ++parent->second.creates;
  parent->second.children.insert(name_of(path));
  parent->second.stat.pzxid = zxid_;
  write.changes.push_back({path, WatchEventType::created});
  write.changes.push_back({parent->first, WatchEventType::children_changed});

  Reply reply;
  reply.path = path;
  reply.stat = stat_of(node);
  nodes_.emplace(std::move(path), std::move(node));
  return reply;
}

Reply FakeTree::remove(const request::Remove& request, Write& write) {
  const auto found = nodes_.find(request.path);
  if (request.path == "/") return failed(ServerErrc::bad_arguments);
  if (found == nodes_.end()) return failed(ServerErrc::no_node);
  if (refuses(request.path) || refuses(parent_of(request.path))) {
    return failed(ServerErrc::no_auth);
  }
  if (request.version != any_version && request.version != found->second.stat.version) {
    return failed(ServerErrc::bad_version);
  }
  if (!found->second.children.empty()) return failed(ServerErrc::not_empty);
  erase(request.path, write);
  return {};
}

void FakeTree::erase(const std::string& path, Write& write) {
  Node& parent = nodes_.at(parent_of(path));
  parent.children.erase(name_of(path));
  parent.stat.pzxid = zxid_;
  write.changes.push_back({path, WatchEventType::deleted});
  write.changes.push_back({parent_of(path), WatchEventType::children_changed});
  nodes_.erase(path);
}

Reply FakeTree::set(const request::Set& request, Write& write) {
  const auto found = nodes_.find(request.path);
  if (found == nodes_.end()) return failed(ServerErrc::no_node);
  if (refuses(request.path)) return failed(ServerErrc::no_auth);
  Node& node = found->second;
  if (request.version != any_version && request.version != node.stat.version) {
    return failed(ServerErrc::bad_version);
  }
  node.data = request.data;
  ++node.stat.version;
  node.stat.mzxid = zxid_;
  node.stat.modified = std::chrono::system_clock::now();
  write.changes.push_back({request.path, WatchEventType::data_changed});
  Reply reply;
  reply.stat = stat_of(node);
  return reply;
}

Reply FakeTree::set_acl(const request::SetAcl& request) {
  const auto found = nodes_.find(request.path);
  if (request.acl.empty()) return failed(ServerErrc::invalid_acl);
  if (found == nodes_.end()) return failed(ServerErrc::no_node);
  if (refuses(request.path)) return failed(ServerErrc::no_auth);
  Node& node = found->second;
  if (request.version != any_version && request.version != node.stat.acl_version) {
    return failed(ServerErrc::bad_version);
  }
  node.acl = request.acl;
  ++node.stat.acl_version;
  Reply reply;
  reply.stat = stat_of(node);
  return reply;
}

Reply FakeTree::check(const transaction::Check& check) const {
  const Node* node = find(check.path);
  if (node == nullptr) return failed(ServerErrc::no_node);
  if (refuses(check.path)) return failed(ServerErrc::no_auth);
  const bool other = check.version != any_version && check.version != node->stat.version;
  return other ? failed(ServerErrc::bad_version) : Reply{};
}

Reply FakeTree::multi(const request::Multi& request, Write& write) {
  FakeTree attempt = *this;
  std::vector<TreeChange> changes;
  Write tentative{write.session, changes};
  Reply all;
  for (const auto& operation : request.operations) {
    TransactionResult result;
    if (all.error) {
      result.error = ServerErrc::runtime_inconsistency;  // operations after the one that failed
    } else {
      Reply one;
      if (const auto* each = std::get_if<request::Create>(&operation)) {
        one = attempt.create(*each, tentative);
      } else if (const auto* set = std::get_if<request::Set>(&operation)) {
        one = attempt.set(*set, tentative);
      } else if (const auto* removal = std::get_if<request::Remove>(&operation)) {
        one = attempt.remove(*removal, tentative);
      } else {
        one = attempt.check(std::get<transaction::Check>(operation));
      }
      all.error = one.error;
      const bool is_set = std::holds_alternative<request::Set>(operation);
      result = {one.error, std::move(one.path), is_set ? one.stat : Stat{}};
    }
    all.results.push_back(std::move(result));
  }
  if (all.error) {
    for (TransactionResult& each : all.results) each = {each.error, {}, {}};
    return all;
  }
  *this = std::move(attempt);
  write.changes.insert(write.changes.end(), changes.begin(), changes.end());
  return all;
}

Reply FakeTree::read(const Request& request) const {
  const std::string path = path_of(request);
  if (std::holds_alternative<request::Sync>(request)) {
    Reply reply;
    reply.path = path;
    return reply;
  }
  const Node* node = find(path);
  if (node == nullptr) return failed(ServerErrc::no_node);
  // As in ZooKeeper, every client may learn that a node exists.
  if (refuses(path) && !std::holds_alternative<request::Exists>(request)) {
    return failed(ServerErrc::no_auth);
  }
  Reply reply;
  reply.stat = stat_of(*node);
  if (std::holds_alternative<request::Get>(request)) reply.data = node->data;
  if (std::holds_alternative<request::GetAcl>(request)) reply.acl = node->acl;
  if (std::holds_alternative<request::GetChildren>(request)) {
    reply.children.assign(node->children.begin(), node->children.end());
  }
  return reply;
}

void FakeTree::end_session(std::int64_t session, std::vector<TreeChange>& changes) {
  ++zxid_;
  Write write{session, changes};
  std::vector<std::string> owned;
  for (const auto& [path, node] : nodes_) {
    if (node.stat.ephemeral_owner == session && session != 0) owned.push_back(path);
  }
  for (const std::string& path : owned) erase(path, write);
}

void FakeTree::reap_containers(std::vector<TreeChange>& changes) {
  Write write{0, changes};
  for (bool found = true; std::exchange(found, false);) {
    for (const auto& [path, node] : nodes_) {
      if (node.mode != CreateMode::container || node.creates == 0 || !node.children.empty()) {
        continue;
      }
      ++zxid_;
      erase(std::string{path}, write);
      found = true;  // search again: the parent may be empty now
      break;
    }
  }
}

void FakeTree::remove_tree(const std::string& path, std::vector<TreeChange>& changes) {
  const Node* node = find(path);
  if (node == nullptr) return;
  for (const std::string& name : std::set<std::string>{node->children}) {
    remove_tree(join(path, name), changes);
  }
  if (path == "/") return;
  ++zxid_;
  Write write{0, changes};
  erase(path, write);
}

void FakeTree::set_next_sequence(const std::string& path, std::int32_t next) {
  if (const auto found = nodes_.find(path); found != nodes_.end()) found->second.creates = next;
}

void FakeTree::set_version(const std::string& path, std::int32_t version) {
  if (const auto found = nodes_.find(path); found != nodes_.end()) {
    found->second.stat.version = version;
  }
}

}  // namespace custodian::testing
