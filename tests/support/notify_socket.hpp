#pragma once

/// \file
/// NotifySocket is the service manager's end of NOTIFY_SOCKET. It stands for systemd.

#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <optional>
#include <string>

namespace custodian::tests {

class NotifySocket {
 public:
  /// At an abstract address.
  NotifySocket()
      : NotifySocket{"@custodian-test-" + std::to_string(::getpid()) + "-" + next_id()} {}
  /// At this address, in NOTIFY_SOCKET's form.
  explicit NotifySocket(const std::string& address)
      : address_{address}, socket_{context_, endpoint(address)} {
    socket_.non_blocking(true);
  }

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// The next datagram; nothing if none is there.
  [[nodiscard]] std::optional<std::string> next() {
    std::array<char, 4096> text{};
    boost::system::error_code nothing;
    const std::size_t size = socket_.receive(boost::asio::buffer(text), 0, nothing);
    if (nothing) return std::nullopt;
    return std::string{text.data(), size};
  }

 private:
  using Protocol = boost::asio::local::datagram_protocol;

  static std::string next_id() {
    static std::atomic<int> last = 0;
    return std::to_string(++last);
  }
  static Protocol::endpoint endpoint(std::string name) {
    if (name.front() == '@') name.front() = '\0';
    return {name};
  }

  std::string address_;
  boost::asio::io_context context_;
  Protocol::socket socket_;
};

}  // namespace custodian::tests
