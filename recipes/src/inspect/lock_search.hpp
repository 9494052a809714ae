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
  /// Takes the children of a listed node. Contenders with a number from a server make the node a
  /// lock. All other children are listed in turn, since any of them may be a folder, whatever its
  /// name.
  void add(const std::string& path, std::vector<std::string> children);

  /// The paths of the locks that were found.
  [[nodiscard]] const std::set<std::string>& locks() const { return locks_; }

 private:
  std::deque<std::string> to_list_;
  /// The semaphore of each path that may be one of a semaphore's two queues.
  std::map<std::string, std::string> part_of_;
  /// The parent of each node that has the name of a semaphore's permits, without a line beside it.
  std::map<std::string, std::string> lone_permits_;
  std::set<std::string> locks_;
};

/// The locks at one path: usually one. If several recipes use the path there is one of each kind.
[[nodiscard]] std::vector<ListedLock> locks_at(const std::string& path, Inspection inspection);

}  // namespace custodian::recipes_detail
