#include "integration/client/hostile_server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "support/jute.hpp"

namespace custodian::tests {

namespace asio = boost::asio;
using asio::ip::tcp;

HostileServer::HostileServer(Words words)
    : words_{std::move(words)},
      acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}} {
  thread_ = std::thread{[this] { serve(); }};
}

HostileServer::~HostileServer() {
  stopping_ = true;
  // This wakes the thread from a blocking accept or read.
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
  if (const int descriptor = descriptor_; descriptor >= 0) ::shutdown(descriptor, SHUT_RDWR);
  thread_.join();
}

testing::ServerEndpoint HostileServer::endpoint() const {
  return {"127.0.0.1", acceptor_.local_endpoint().port()};
}

std::string HostileServer::connect_string() const {
  return "127.0.0.1:" + std::to_string(endpoint().port);
}

void HostileServer::serve() {
  while (!stopping_) {
    boost::system::error_code error;
    acceptor_.accept(socket_, error);
    if (error) return;
    socket_.set_option(tcp::no_delay{true});
    descriptor_ = socket_.native_handle();
    try {
      if (!stopping_) talk();
    } catch (const boost::system::system_error&) {
      // The client has closed the connection.
    }
    descriptor_ = -1;
    socket_.close(error);
    connections_ended_ = connections_.load();
  }
}

void HostileServer::talk() {
  static_cast<void>(read_frame());
  ++connections_;
  send(words_.greeting() + words_.unasked);
  for (;;) {
    const std::string frame = read_frame();
    SeenRequest request{number_at(frame, 0), number_at(frame, 4), frame.substr(8)};
    if (came_in_parts_ && request.xid > 0) ++requests_in_parts_;
    constexpr std::int32_t ping = -2;
    const std::string ping_answer = Jute{}.header(ping).frame();
    send(request.xid == ping ? ping_answer : words_.answer(request));
    if (words_.ends && words_.ends(request)) return;
  }
}

std::string HostileServer::read_frame() {
  std::string bytes(4, '\0');
  asio::read(socket_, asio::buffer(bytes));
  bytes.resize(static_cast<std::size_t>(number_at(bytes, 0)));
  came_in_parts_ = socket_.available() < bytes.size();
  asio::read(socket_, asio::buffer(bytes));
  return bytes;
}

void HostileServer::send(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += words_.piece) {
    bytes_sent_ += asio::write(
        socket_, asio::buffer(bytes.data() + at, std::min(words_.piece, bytes.size() - at)));
  }
}

}  // namespace custodian::tests
