#pragma once

/// \file
/// *EnsembleFollower* keeps a client's servers up to date with its ensemble: it reads and watches
/// /zookeeper/config, and adds the members to the servers that the user has given. See
/// `ClientOptions::follow_ensemble`. Used on the strand only.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ensemble_config.hpp"
#include "custodian/session/session.hpp"

namespace custodian::detail {

class ClientCore;

class EnsembleFollower {
 public:
  explicit EnsembleFollower(ClientCore& core);

  /// The client has a connection.
  void on_connected();
  /// The client closes.
  void stop();

 private:
  class ConfigWatcher;

  /// The pause after a read that has failed, unless the node does not exist or may not be read:
  /// then the next read comes with the next connection.
  static constexpr std::chrono::seconds pause_after_failure{5};

  void read();
  void read_after_pause();
  void on_reply(const Reply& reply);
  /// The watch has ended: with an event, or with its session.
  void on_event(const ConfigWatcher& watcher, error_code error);
  void take_up(const std::string& text);
  [[nodiscard]] ClientSide client_side() const;
  void log_once(std::string line);

  ClientCore& core_;
  boost::asio::steady_timer timer_;
  bool reading_ = false;
  std::shared_ptr<ConfigWatcher> watcher_;  ///< of the newest read; null if its watch has ended
  std::optional<std::uint64_t> version_;    ///< of the newest configuration
  std::string last_line_;                   ///< the newest line of log_once()
};

}  // namespace custodian::detail
