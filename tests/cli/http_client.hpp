#pragma once

/// \file
/// An HTTP client for tests. It sends exactly the bytes that a test gives it, and parses the reply.

#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/test_client.hpp"

namespace custodian::tests {

[[nodiscard]] inline bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct HttpReply {
  int status = 0;  ///< 0: there was no response
  std::string head{};
  std::string body{};
};

/// A connection to a server on this machine. Every wait has a time limit.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  void send(std::string_view text) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }
  /// The next line, without the line break; nothing at the end of the stream.
  [[nodiscard]] std::optional<std::string> next_line() {
    std::size_t end = 0;
    while ((end = read_.find('\n')) == std::string::npos) {
      if (!read_more()) return std::nullopt;
    }
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }
  [[nodiscard]] std::string line() { return next_line().value_or(""); }
  /// The next `count` bytes, or fewer at the end of the stream.
  [[nodiscard]] std::string bytes(std::size_t count) {
    while (read_.size() < count && read_more()) {
    }
    std::string found = read_.substr(0, count);
    read_.erase(0, count);
    return found;
  }
  /// The rest until the server ends the connection.
  [[nodiscard]] std::string rest() {
    while (read_more()) {
    }
    return std::exchange(read_, {});
  }
  /// Whether the server has ended the connection; false if a wait was too long.
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  /// Reads until the server ends the connection.
  [[nodiscard]] HttpReply reply() {
    const std::string all = rest();
    HttpReply reply;
    if (!all.starts_with("HTTP/1.1 ")) return reply;
    reply.status = std::stoi(all.substr(9, 3));
    const auto end = all.find("\r\n\r\n");
    reply.head = all.substr(0, end);
    if (end != std::string::npos) reply.body = all.substr(end + 4);
    return reply;
  }

 private:
  bool read_more() {
    std::array<char, 4096> part{};
    const auto count = ::recv(socket_.native_handle(), part.data(), part.size(), 0);
    has_ended_ = count == 0;
    if (count <= 0) return false;
    read_.append(part.data(), static_cast<std::size_t>(count));
    return true;
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
  std::string read_;
  bool has_ended_ = false;
};

/// Sends a GET with these header lines, each of which ends with "\r\n", on a connection of its own.
[[nodiscard]] inline HttpReply http_get(std::uint16_t port, const std::string& target,
                                        const std::string& headers = "Host: localhost\r\n") {
  HttpConnection connection{port};
  connection.send("GET " + target + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
  return connection.reply();
}

/// The port in "listening at http://127.0.0.1:41234/"; 0 if the text has none.
[[nodiscard]] inline std::uint16_t port_in(const std::string& text) {
  const auto begin = text.find("listening at http://");
  if (begin == std::string::npos) return 0;
  const auto end = text.find('\n', begin);
  const auto colon = text.rfind(':', end);
  return static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1)));
}

}  // namespace custodian::tests
