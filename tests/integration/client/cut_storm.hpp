#pragma once

/// \file
/// CutStorm keeps locks in use over a connection to a server that is cut again and again, so that
/// the server may apply requests of an earlier connection late.
///
/// Late requests are made likely. The client has several paths to its one server, so that after a
/// cut it dials the next address at once. Every second cut ends only the client's half of the
/// connection: the bytes sent before are held back in the network, and arrive a little before or
/// after the next connection. And monitors ask the server for statistics all the time; the server
/// threads that serve them serve the late requests, too, which therefore have to wait.
///
/// The next cut follows when each lock has been granted again.

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
  /// The number of threads that ask the server for its statistics.
  int monitors = 3;
  /// The number of paths; odd, since the C client of ZooKeeper 3.8 tries only half of an even
  /// number.
  int paths = 11;
  std::chrono::milliseconds session_timeout{6000};
};

/// The results of a storm.
struct CutStormReport {
  int cuts = 0;
  std::uint64_t grants = 0;
  int failures = 0;  ///< the number of acquires that failed
  int sessions = 0;  ///< the number of sessions that the client has had
  /// The times from a cut to the next connection, in the order of the cuts.
  std::vector<std::chrono::microseconds> healed;
  /// The times from the next connection until each lock has been granted.
  std::vector<std::chrono::microseconds> granted;
  /// For each lock, the longest time from a new connection to the next grant.
  std::vector<std::chrono::microseconds> longest;
  /// The number of cuts that were followed by more than a second without any grant: the server or
  /// the machine stood still.
  int stalls = 0;
  /// The number of times that a lock was granted more than a second after the first lock: something
  /// blocked it.
  int blocked = 0;
  /// Nodes at the head of a queue that the storm removed, because the lock had not been granted for
  /// two session timeouts. Each entry has the node and its owner.
  std::vector<std::string> removed;
  /// Nodes that are left when no client holds or waits any more, though the session lives.
  std::vector<std::string> orphans;
};

std::ostream& operator<<(std::ostream& out, const CutStormReport& report);

class CutStorm {
 public:
  explicit CutStorm(CutStormSettings settings);
  ~CutStorm();
  CutStorm(const CutStorm&) = delete;
  CutStorm& operator=(const CutStorm&) = delete;

  /// Plays the storm; to be called once. Throws std::runtime_error if the connection does not come
  /// back.
  CutStormReport run();

 private:
  /// Two proxies in a row: `entry` is cut on the client's side, and `line` holds requests back.
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
  /// Returns how long the new connection took.
  std::chrono::microseconds wait_for_next_connection(std::uint64_t connection);
  void wait_for_grants();
  void remove_first_in_line(Lock& lock);
  void look_for_orphans();

  const CutStormSettings settings_;
  Server server_;
  std::deque<Path> paths_;
  Client client_;
  Client observer_;  ///< connected directly, not through the proxies
  std::deque<Lock> locks_;
  std::atomic<int> failures_ = 0;
  std::minstd_rand random_{1};
  CutStormReport report_;
  std::vector<std::jthread> threads_;  ///< the last member: destroyed first
};

}  // namespace custodian::tests
