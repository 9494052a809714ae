#pragma once

/// \file
/// Contender acquires paths, one at a time, holds them, writes to the resources that they guard,
/// and reports all of that in lines (lines.hpp).
///
/// A loss is reported for the time at which the lease's clock was to run out by its last reading,
/// and not for a later time at which a busy thread notices the loss.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "custodian/client.hpp"
#include "custodian/ensembles/moving_mutex.hpp"

namespace custodian::tests::moving {

/// The objects that all contenders of a process share.
struct Site {
  std::map<std::string, Client>& clients;
  MovingMap& map;
  std::uint16_t register_port;
  std::chrono::milliseconds session_timeout;
};

/// Threads: one.
class Contender {
 public:
  /// Connects to the register of tokens.
  explicit Contender(const Site& site);

  /// Waits for the path, and holds it while `goes_on` returns true, or until it is lost. Returns
  /// false if the path was not acquired within the limit.
  bool take(const std::string& path, std::chrono::milliseconds limit,
            const std::function<bool()>& goes_on);
  /// Calls take() with a limit that passes only if a waiter is stuck, which is then reported.
  void take_at_last(const std::string& path, const std::function<bool()>& goes_on);

 private:
  void hold(const std::string& path, MovingLease& lease, std::int64_t granted,
            const std::function<bool()>& goes_on);
  void write(const std::string& path, const MovingLease& lease);
  void write_fenced(const std::string& path, const MovingLease& lease);
  void write_guarded(const std::string& path, const MovingLease& lease);

  Site site_;
  std::string not_acquired_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket register_{context_};
  std::string received_;
};

}  // namespace custodian::tests::moving
