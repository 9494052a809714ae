#pragma once

/// \file
/// FakeTree is ZooKeeper's data tree: requests in, replies and changes out. It knows only the ids
/// of sessions, and has no clock. It is a value type: a server that lags behind has a copy.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::testing {

/// A change that may fire watches.
struct TreeChange {
  std::string path;
  WatchEventType type = WatchEventType::created;
};

class FakeTree {
 public:
  struct Node {
    std::string data;
    Acl acl;
    CreateMode mode = CreateMode::persistent;
    Stat stat;
    std::int32_t creates = 0;  ///< creations of children so far: the next sequence number
    std::set<std::string> children;
  };

  FakeTree();

  /// Applies a write or a read. Changes are appended to `changes`, in ZooKeeper's order.
  [[nodiscard]] Reply apply(const Request& request, std::int64_t session,
                            std::vector<TreeChange>& changes);
  /// Removes the ephemeral nodes of a session that is over.
  void end_session(std::int64_t session, std::vector<TreeChange>& changes);
  void reap_containers(std::vector<TreeChange>& changes);
  void remove_tree(const std::string& path, std::vector<TreeChange>& changes);

  [[nodiscard]] const Node* find(const std::string& path) const;
  [[nodiscard]] std::int64_t zxid() const noexcept { return zxid_; }

  void refuse(const std::string& path) { refused_.insert(path); }
  void permit(const std::string& path) { refused_.erase(path); }
  void set_next_sequence(const std::string& path, std::int32_t next);
  void set_version(const std::string& path, std::int32_t version);

 private:
  struct Write;

  [[nodiscard]] Reply create(const request::Create& request, Write& write);
  [[nodiscard]] Reply remove(const request::Remove& request, Write& write);
  [[nodiscard]] Reply set(const request::Set& request, Write& write);
  [[nodiscard]] Reply set_acl(const request::SetAcl& request);
  [[nodiscard]] Reply check(const transaction::Check& check) const;
  [[nodiscard]] Reply multi(const request::Multi& request, Write& write);
  [[nodiscard]] Reply read(const Request& request) const;
  void erase(const std::string& path, Write& write);
  [[nodiscard]] bool refuses(const std::string& path) const { return refused_.contains(path); }
  [[nodiscard]] static Stat stat_of(const Node& node);

  std::map<std::string, Node> nodes_;
  std::set<std::string> refused_;
  std::int64_t zxid_ = 0;
};

/// The kind of a request, as in `Submission::kind`.
[[nodiscard]] std::string kind_of(const Request& request);
[[nodiscard]] std::string path_of(const Request& request);
[[nodiscard]] bool is_write(const Request& request);

}  // namespace custodian::testing
