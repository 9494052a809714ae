#pragma once

/// \file
/// A Crowd is several worker processes, which obey orders, report, and are killed. Orders:
///
///   join <id>     become a member of the group; the worker's first member also sees the group
///   leave <id>    end a member of this worker, but not its first one
///   look          report how many members the worker sees
///   share <id>    own a part of the shards, under this id, and write to them again and again
///
/// Reports:
///
///   joined <id>, left <id>, sees <number>
///   begin <shard> <token> <time>         the worker owns a shard from now on
///   end <shard> <token> <time>           the worker owns it no more; written before the release
///   wrote <shard> <token> <zxid>         a guarded write of an owner
///   refused <shard> <token> <message>    such a write was refused, or not answered

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"

namespace custodian::tests::crowds {

/// The words of a line from a worker.
using Words = std::vector<std::string>;

class Crowd {
 public:
  /// Called with each line of each worker, in the order in which the lines are read.
  using Report = std::function<void(const std::string& worker, const Words& words)>;

  Crowd(std::string servers, std::chrono::milliseconds session_timeout, Report report);

  void start(const std::string& worker);
  /// Starts a worker with other arguments than the crowd's.
  void start(const std::string& worker, const std::vector<std::string>& arguments);
  /// Kills the worker. All lines that it has written are reported before kill() returns.
  void kill(const std::string& worker);
  /// Sends a signal that does not end the worker.
  void signal(const std::string& worker, int signal) { workers_.at(worker)->send_signal(signal); }
  void tell(const std::string& worker, const std::string& line) { workers_.at(worker)->tell(line); }
  [[nodiscard]] bool has(const std::string& worker) const { return workers_.contains(worker); }
  [[nodiscard]] std::vector<std::string> workers() const;
  /// Reads the lines of the workers. Waits for a line for `time` at most.
  void listen(std::chrono::milliseconds time = std::chrono::milliseconds{5});
  /// Listens until the condition is true, for `limit` at most. Returns whether it is true.
  [[nodiscard]] bool until(const std::function<bool()>& condition, std::chrono::milliseconds limit);

 private:
  void report_lines(const std::string& worker, testing::ChildProcess& process);

  const std::string servers_;
  const std::chrono::milliseconds session_timeout_;
  const Report report_;
  std::map<std::string, std::unique_ptr<testing::ChildProcess>> workers_;
};

}  // namespace custodian::tests::crowds
