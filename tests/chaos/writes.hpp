#pragma once

/// \file
/// Writes makes a holder's writes: some that a lock can protect, and one that no lock can protect.
/// Like a careless program it never checks whether it still holds the lock.
///
/// Threads: one at a time, which must be that of the executor.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "custodian/client.hpp"
#include "hold_watch.hpp"
#include "journal.hpp"

namespace custodian::chaos {

/// The paths of a lock's registers in ZooKeeper, below the run's root.
[[nodiscard]] std::string guarded_register(const std::string& root, const std::string& lock);
[[nodiscard]] std::string bare_register(const std::string& root, const std::string& lock);

using HoldPtr = std::shared_ptr<const HoldWatch>;

/// The numbers of a process's attempts, which its contenders share.
struct Attempts {
  std::int64_t last = 0;
};

class Writes {
 public:
  Writes(Client client, std::string root, std::shared_ptr<const Journal> journal,
         std::shared_ptr<Attempts> attempts, boost::asio::ip::tcp::socket fenced_register,
         std::chrono::milliseconds limit);

  /// Makes one write of each kind, and records it before and after. Waits for each answer up to a
  /// time limit. Throws if the fenced register is gone.
  boost::asio::awaitable<void> write(HoldPtr hold, std::string lock);
  /// Makes a read, which even a follower that is cut off answers.
  boost::asio::awaitable<void> read(std::string lock);

 private:
  boost::asio::awaitable<void> write_fenced(HoldPtr hold, std::string lock);
  boost::asio::awaitable<void> write_guarded(HoldPtr hold, std::string lock);
  boost::asio::awaitable<void> write_bare(HoldPtr hold, std::string lock);
  std::int64_t begin(const char* kind, const HoldWatch& hold);
  void end(std::int64_t attempt, error_code error, std::int32_t version);

  Client client_;
  std::string root_;
  std::shared_ptr<const Journal> journal_;
  std::shared_ptr<Attempts> attempts_;
  boost::asio::ip::tcp::socket fenced_register_;
  std::string received_;
  std::chrono::milliseconds limit_;
};

}  // namespace custodian::chaos
