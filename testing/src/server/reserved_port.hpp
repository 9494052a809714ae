#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace custodian::testing {

/// ReservedPort is a free port that stays reserved while the server that uses it is down: a socket
/// is bound to the port and never listens. Linux lets the server bind to the port, too, since both
/// allow the reuse of addresses, but never chooses it as the free port of another socket.
class ReservedPort {
 public:
  explicit ReservedPort(const std::string& address);

  [[nodiscard]] std::uint16_t number() const;

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
};

}  // namespace custodian::testing
