#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {

/// DeadlineSocket is a TCP connection for code that blocks. An operation that is not done by the
/// deadline throws `TestingError`.
class DeadlineSocket {
 public:
  using Clock = std::chrono::steady_clock;

  DeadlineSocket(const ServerEndpoint& endpoint, Clock::time_point deadline);

  void write(std::string_view bytes);
  [[nodiscard]] std::string read(std::size_t count);
  [[nodiscard]] std::string read_to_end();

  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }

 private:
  // Runs the context until the operation that was started is done. The operation must put its
  // result into `error`.
  void finish(const boost::system::error_code& error, const char* what);

  const std::string name_;
  Clock::time_point deadline_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::socket socket_{context_};
};

}  // namespace custodian::testing
