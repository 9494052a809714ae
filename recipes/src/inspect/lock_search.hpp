#pragma once

/// \file
/// LockSearch walks a tree of nodes in search of queues: it decides which nodes to list, and which
/// of them are locks. Pure: names in, paths out.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "custodian/inspect/list_locks.hpp"

namespace custodian::recipes_detail {

class LockSearch {
 public:
  explicit LockSearch(std::string root) : to_list_{std::move(root)} {}

  /// The next node to list, breadth first; nothing if none is known.
  [[nodiscard]] std::optional<std::string> next();
  [[nodiscard]] bool has_next() const { return !to_list_.empty(); }
  /// Takes the children of a listed node. Those of a queue make it a lock; the others are listed.
  void add(const std::string& path, std::vector<std::string> children);

  /// The paths of the locks that were found.
  [[nodiscard]] const std::set<std::string>& locks() const { return locks_; }

 private:
  std::deque<std::string> to_list_;
  /// The semaphore that a node is part of, if its queue is one of a semaphore's two.
  std::map<std::string, std::string> part_of_;
  std::set<std::string> locks_;
};

/// The locks of one path: usually one. A path that several recipes use has one of each kind.
[[nodiscard]] std::vector<ListedLock> locks_at(const std::string& path, Inspection inspection);

}  // namespace custodian::recipes_detail
