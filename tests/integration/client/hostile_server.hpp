#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::tests {

/// A request, as far as the server reads it.
struct SeenRequest {
  std::int32_t xid = 0;
  std::int32_t type = 0;
  std::string body{};
};

/// A server that speaks ZooKeeper's protocol and sends whatever the test wants. It has a thread of
/// its own, and serves one connection after the other.
class HostileServer {
 public:
  struct Words {
    /// The answer to a handshake.
    std::function<std::string()> greeting;
    /// The bytes that are sent right after the greeting.
    std::string unasked{};
    /// The answer to each request.
    std::function<std::string(const SeenRequest&)> answer;
    /// Returns whether the server closes the connection after that answer.
    std::function<bool(const SeenRequest&)> ends{};
    /// The size of the pieces in which the server sends.
    std::size_t piece = 1U << 16U;
  };

  explicit HostileServer(Words words);
  ~HostileServer();
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  [[nodiscard]] testing::ServerEndpoint endpoint() const;
  [[nodiscard]] std::string connect_string() const;
  /// The number of handshakes that were answered.
  [[nodiscard]] int connections() const { return connections_; }
  /// The number of connections that were closed, of those whose handshake was answered.
  [[nodiscard]] int connections_ended() const { return connections_ended_; }
  /// The number of requests whose length had come without the rest.
  [[nodiscard]] int requests_in_parts() const { return requests_in_parts_; }
  /// The number of bytes that clients have taken.
  [[nodiscard]] std::size_t bytes_sent() const { return bytes_sent_; }

 private:
  void serve();
  void talk();
  [[nodiscard]] std::string read_frame();
  void send(const std::string& bytes);

  const Words words_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket socket_{context_};
  std::atomic<int> descriptor_{-1};
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::atomic<int> connections_ended_{0};
  std::atomic<int> requests_in_parts_{0};
  bool came_in_parts_ = false;  ///< the newest frame
  std::atomic<std::size_t> bytes_sent_{0};
  std::thread thread_;
};

}  // namespace custodian::tests
