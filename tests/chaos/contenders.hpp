#pragma once

/// \file
/// Contenders are the threads and coroutines of one worker process, which contend for its locks
/// through one client: each acquires, writes and releases, in a way that is drawn at random, again
/// and again.
///
/// Threads: one thread calls run(), which starts others and joins them.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "contended_lock.hpp"
#include "custodian/client.hpp"
#include "driver_line.hpp"
#include "journal.hpp"
#include "writes.hpp"

namespace custodian::chaos {

struct ContenderSettings {
  std::string name{};
  std::string servers{};
  std::string authority_file{};  ///< the file of the authority that signs the servers'
                                 ///< certificates; empty without TLS
  std::string root{};
  std::vector<std::string> locks{};  ///< the names of the locks: see kind_of()
  int threads = 2;
  int coroutines = 2;
  /// The number of coroutines for each lock that is passed on within a process. They contend for no
  /// other lock, so that nearly every process has waiters for that lock.
  int regulars = 3;
  std::chrono::milliseconds session_timeout{0};
  std::chrono::milliseconds touch_interval{0};
  std::uint16_t register_port = 0;
  std::uint64_t seed = 0;
  std::filesystem::path directory{};
};

class Contenders {
 public:
  Contenders(ContenderSettings settings, DriverLine& driver);

  /// Runs until the driver tells the worker to finish. An unexpected exception terminates the
  /// process.
  void run();

 private:
  struct Contender {
    std::mt19937_64 random;
    Writes writes;
    ContendedLock* only = nullptr;  ///< the only lock that this contender acquires; null: any
  };
  using ContenderPtr = std::shared_ptr<Contender>;
  /// One acquire of a contender.
  struct Turn {
    std::int64_t id = 0;
    ContendedLock* lock = nullptr;
    Use use = Use::exclusive;
    /// Whether the acquire does not wait for anything, not even for a connection.
    bool tries_only = false;
  };

  /// Returns the number of requests and watches that the client still has when all that end by
  /// themselves have ended.
  [[nodiscard]] std::size_t load_when_idle() const;
  ContenderPtr make_contender(ContendedLock* only = nullptr);
  void start_coroutine(ContenderPtr contender);
  Turn begin(Contender& contender);
  void end_without_lease(const Turn& turn, error_code error);
  void contend_in_thread(const ContenderPtr& contender);
  boost::asio::awaitable<void> contend_in_coroutine(ContenderPtr contender);
  /// Holds the lock from the grant to the release, on the io_context's thread.
  boost::asio::awaitable<void> hold(ContenderPtr contender, Turn turn, Lease lease,
                                    BootClock::time_point granted);
  boost::asio::awaitable<void> pause(std::chrono::milliseconds length);
  std::chrono::milliseconds between(Contender& contender, std::chrono::milliseconds least,
                                    std::chrono::milliseconds most);

  const ContenderSettings settings_;
  DriverLine& driver_;
  std::shared_ptr<const Journal> journal_;
  std::shared_ptr<Attempts> attempts_ = std::make_shared<Attempts>();
  std::mt19937_64 seeds_;
  std::atomic<std::int64_t> last_turn_{0};
  boost::asio::io_context context_{1};
  Client client_;
  std::deque<ContendedLock> locks_;
};

}  // namespace custodian::chaos
