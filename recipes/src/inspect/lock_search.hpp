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
  /// Takes the children of a listed node. Contenders that a server has numbered make it a lock; all
  /// others are listed, for they may be folders whatever they are called.
  void add(const std::string& path, std::vector<std::string> children);

  /// The paths of the locks that were found.
  [[nodiscard]] const std::set<std::string>& locks() const { return locks_; }

 private:
  std::deque<std::string> to_list_;
  /// The semaphore that a node is part of, if its queue is one of a semaphore's two.
  std::map<std::string, std::string> part_of_;
  /// The parent of a node that is called as the permits of a semaphore are, without a line beside
  /// it.
  std::map<std::string, std::string> lone_permits_;
  std::set<std::string> locks_;
};

/// The locks of one path: usually one. A path that several recipes use has one of each kind.
[[nodiscard]] std::vector<ListedLock> locks_at(const std::string& path, Inspection inspection);

}  // namespace custodian::recipes_detail
