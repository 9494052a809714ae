#include "stage.hpp"

#include <algorithm>

#include "custodian/lease/revocation.hpp"

namespace custodian::tests {

std::map<std::string, std::int64_t> Stage::owners(const std::string& path) {
  std::map<std::string, std::int64_t> owners;
  const std::string below = path + '/';
  for (const std::string& name : names_below(*client_, path.substr(root_.size()))) {
    const std::string node = below + name;
    if (const auto stat = client_->exists(node.substr(root_.size())))
      owners[node] = stat->ephemeral_owner;
  }
  return owners;
}

bool Stage::becomes(const std::string& path, std::size_t length) {
  return eventually(
      [&] { return names_below(*client_, path.substr(root_.size())).size() == length; });
}

bool Stage::becomes_named(Session& owner, const std::string& path) {
  const std::string node = nodes(owner, path).at(0).substr(root_.size());
  return eventually([&] { return client_->get(node).data != revoke_message; });
}

std::vector<std::string> Stage::nodes(Session& owner, const std::string& path) {
  std::vector<std::string> nodes;
  for (const auto& [node, session] : owners(path)) {
    if (session == owner.id()) nodes.push_back(node);
  }
  return nodes;
}

std::vector<std::int64_t> Stage::watchers(Session& watched, const std::string& path) {
  const auto nodes = owners(path);
  std::vector<std::int64_t> watchers;
  for (const auto& [session, watches] : own_server().watches_by_session()) {
    for (const std::string& watch : watches) {
      const auto node = nodes.find(watch);
      if (node != nodes.end() && node->second == watched.id()) watchers.push_back(session);
    }
  }
  return watchers;
}

bool Stage::waits(Session& waiter, Session& ahead, const std::string& path) {
  return eventually([&] {
    if (nodes(waiter, path).empty()) return false;
    const auto sessions = watchers(ahead, path);
    return std::ranges::find(sessions, waiter.id()) != sessions.end();
  });
}

}  // namespace custodian::tests
