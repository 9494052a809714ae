#pragma once

/// \file
/// Relay forwards between a client and a ZooKeeper server, and counts packets.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace custodian::bench {

/// Forwards one connection at a time, on a thread of its own. Threads: any.
class Relay {
 public:
  /// Listens, and forwards to a server on 127.0.0.1. Throws std::system_error.
  explicit Relay(std::uint16_t server_port);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  [[nodiscard]] std::string address() const;
  /// The number of packets that the latest client has sent, including the handshake's.
  [[nodiscard]] int requests() const { return requests_; }
  /// The number of the latest client's round trips: how often the client has sent after it had
  /// received. The handshake counts.
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
