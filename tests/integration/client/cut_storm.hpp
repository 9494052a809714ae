#pragma once

/// \file
/// CutStorm puts locks under traffic, over a connection that is cut again and again, to a server
/// that may apply requests from before a cut late.
///
/// What brings requests late is made likely. The client has several paths to its one server, so
/// that after a cut it goes on to the next address at once. Every second cut takes only the
/// client's end away: what was sent before is held back in the network, and arrives at about the
/// time of the next connection, a little earlier or later. And the server is asked for its
/// statistics all the time, by connections which the threads serve that serve the client's, too:
/// there a late request waits.
///
/// A cut is followed by the next one when each lock has been granted again.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_server.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests {

struct CutStormSettings {
  testing::ConnectionFactory connection_factory = testing::ConnectionFactory::nio;
  testing::Ending ending = testing::Ending::orderly;
  int cuts = 25;
  int locks = 12;
  int threads_per_lock = 2;
  /// Threads that ask the server for its statistics.
  int monitors = 3;
  /// An odd number: of an even one the C client of ZooKeeper 3.8 tries half.
  int paths = 11;
  std::chrono::milliseconds session_timeout{6000};
};

/// What a storm has shown.
struct CutStormReport {
  int cuts = 0;
  std::uint64_t grants = 0;
  /// Acquires that have failed, and sessions that were lost.
  int failures = 0;
  int sessions = 0;
  /// From the cut to the next connection, in the order of the cuts.
  std::vector<std::chrono::microseconds> healed;
  /// From the next connection until each lock has been granted.
  std::vector<std::chrono::microseconds> granted;
  /// Of each lock: the longest time from the next connection to the next grant.
  std::vector<std::chrono::microseconds> longest;
  /// After how many cuts no lock at all was granted for more than a second: the server stood still,
  /// or the machine.
  int stalls = 0;
  /// How often a lock was granted more than a second after another one: something was in its way.
  int blocked = 0;
  /// How often that took two session timeouts, so that the first node in line was removed by hand:
  /// which one, and whose.
  std::vector<std::string> removed;
  /// Nodes that are left when nobody holds or waits any more, and the session goes on.
  std::vector<std::string> orphans;
};

std::ostream& operator<<(std::ostream& out, const CutStormReport& report);

class CutStorm {
 public:
  explicit CutStorm(CutStormSettings settings);
  ~CutStorm();
  CutStorm(const CutStorm&) = delete;
  CutStorm& operator=(const CutStorm&) = delete;

  /// Once. Throws std::runtime_error if the connection does not come back.
  CutStormReport run();

 private:
  /// Two proxies, one behind the other: the client's end is cut, and the line holds back.
  struct Path {
    explicit Path(const testing::ServerEndpoint& server) : line{server} {}

    testing::FaultProxy line;
    testing::FaultProxy entry{line.endpoint()};
  };
  struct Lock {
    std::unique_ptr<InterProcessMutex> mutex;
    std::string path;
    std::atomic<std::uint64_t> grants = 0;
  };

  [[nodiscard]] ClientOptions lay_paths();
  void begin_traffic();
  void work(Lock& lock, const std::stop_token& stop);
  void ask(const std::stop_token& stop) const;
  void end_traffic();
  void cut();
  void cut_and_deliver_late();
  /// The time that it took.
  std::chrono::microseconds wait_for_next_connection(std::uint64_t connection);
  void wait_for_grants();
  void remove_first_in_line(Lock& lock);
  void look_for_orphans();

  const CutStormSettings settings_;
  Server server_;
  std::deque<Path> paths_;
  Client client_;
  Client observer_;  ///< has a direct line
  std::deque<Lock> locks_;
  std::atomic<int> failures_ = 0;
  std::minstd_rand random_{1};
  CutStormReport report_;
  std::vector<std::jthread> threads_;  ///< the first to go
};

}  // namespace custodian::tests
