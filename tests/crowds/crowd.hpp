#pragma once

/// \file
/// A Crowd is several processes, workers, that get commands, are killed, and report.
///
///   join <id>     to a worker: become a member of the group. Its first member sees the group.
///   leave <id>    of one that is not the first
///   look          reports how many members it sees
///   share <id>    own a part of the shards, under this id, and write to them again and again
///
///   joined <id>, left <id>, sees <number>
///   begin <shard> <token> <time>         the worker owns a shard from now on
///   end <shard> <token> <time>           and does so no more; said before the lease is released
///   wrote <shard> <token> <zxid>         a guarded write of an owner
///   refused <shard> <token> <message>    one that the servers have refused, or not answered

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
  /// `report` gets each line of each worker, in the order in which it was read.
  using Report = std::function<void(const std::string& worker, const Words& words)>;

  Crowd(std::string servers, std::chrono::milliseconds session_timeout, Report report);

  void start(const std::string& worker);
  /// Starts a worker with other arguments than the crowd's.
  void start(const std::string& worker, const std::vector<std::string>& arguments);
  /// Kills the worker. All that it has said is reported before this returns.
  void kill(const std::string& worker);
  /// Sends a signal that does not end the worker.
  void signal(const std::string& worker, int signal) { workers_.at(worker)->send_signal(signal); }
  void tell(const std::string& worker, const std::string& line) { workers_.at(worker)->tell(line); }
  [[nodiscard]] bool has(const std::string& worker) const { return workers_.contains(worker); }
  [[nodiscard]] std::vector<std::string> workers() const;
  /// Reads what the workers have said, and waits at most so long for it.
  void listen(std::chrono::milliseconds time = std::chrono::milliseconds{5});
  /// Listens until the condition is met, or so long. Returns whether it is.
  [[nodiscard]] bool until(const std::function<bool()>& condition, std::chrono::milliseconds limit);

 private:
  void report_lines(const std::string& worker, testing::ChildProcess& process);

  const std::string servers_;
  const std::chrono::milliseconds session_timeout_;
  const Report report_;
  std::map<std::string, std::unique_ptr<testing::ChildProcess>> workers_;
};

}  // namespace custodian::tests::crowds
