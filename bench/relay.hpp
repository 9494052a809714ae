#pragma once

/// \file
/// Relay forwards between a client and a ZooKeeper server, and counts packets.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace custodian::bench {

/// One connection at a time. Threads: it has its own; the functions below may be called on any.
class Relay {
 public:
  /// Forwards to a server on 127.0.0.1. Throws std::system_error.
  explicit Relay(std::uint16_t server_port);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  [[nodiscard]] std::string address() const;
  /// The number of packets from the latest client, including the handshake's.
  [[nodiscard]] int requests() const { return requests_; }
  /// How often the client sent after receiving: its round trips, including the handshake's.
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
