#pragma once

/// \file
/// Relay stands between a client and a ZooKeeper server, and counts packets.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace custodian::bench {

/// One connection at a time. Threads: it has one of its own; its questions may be asked on any.
class Relay {
 public:
  /// To a server on 127.0.0.1. Throws std::system_error.
  explicit Relay(std::uint16_t server_port);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  [[nodiscard]] std::string address() const;
  /// Packets of the latest client, the handshake's included.
  [[nodiscard]] int requests() const { return requests_; }
  /// How often it has sent after it had received: round trips, the handshake's included.
  [[nodiscard]] int turns() const { return turns_; }

 private:
  void serve();
  void pass(int client, int server);

  const std::uint16_t server_port_;
  int listening_ = -1;
  int wake_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_ = 0;
  std::atomic<int> turns_ = 0;
  std::jthread thread_;
};

}  // namespace custodian::bench
