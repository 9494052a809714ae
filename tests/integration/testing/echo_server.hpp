#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::tests {

/// A server that sends back what it receives, on each connection until the connection ends. It has
/// a thread of its own.
class EchoServer {
 public:
  explicit EchoServer(std::uint16_t port = 0);
  ~EchoServer();
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  [[nodiscard]] testing::ServerEndpoint endpoint() const;

 private:
  void accept_next();

  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

/// The state of a connection, as one of its ends sees it.
enum class LineState { silent, readable, ended, reset };

/// One end of a connection, without a thread. Each step has a time limit.
class Line {
 public:
  explicit Line(const testing::ServerEndpoint& endpoint);

  void write(std::string_view bytes);
  /// Reads until there are `count` bytes, the time is over, or the connection ends.
  [[nodiscard]] std::string read(std::size_t count,
                                 std::chrono::milliseconds limit = std::chrono::seconds{20});
  /// Waits for bytes or for the end of the connection, no longer than the limit.
  [[nodiscard]] LineState state(std::chrono::milliseconds limit);
  void close_for_writing();

 private:
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::socket socket_{context_};
};

}  // namespace custodian::tests
