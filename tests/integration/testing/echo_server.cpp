#include "integration/testing/echo_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <cerrno>

namespace custodian::tests {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

class Echo : public std::enable_shared_from_this<Echo> {
 public:
  explicit Echo(tcp::socket socket) : socket_{std::move(socket)} {}

  void read() {
    socket_.async_read_some(asio::buffer(buffer_),
                            [keep = shared_from_this()](error_code error, std::size_t count) {
                              if (!error) keep->write(count);
                            });
  }

 private:
  void write(std::size_t count) {
    asio::async_write(socket_, asio::buffer(buffer_, count),
                      [keep = shared_from_this()](error_code error, std::size_t) {
                        if (!error) keep->read();
                      });
  }

  tcp::socket socket_;
  std::array<char, 4096> buffer_{};
};

}  // namespace

EchoServer::EchoServer(std::uint16_t port)
    : acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), port}} {
  accept_next();
  thread_ = std::thread{[this] { context_.run(); }};
}

EchoServer::~EchoServer() {
  context_.stop();
  thread_.join();
}

testing::ServerEndpoint EchoServer::endpoint() const {
  return {"127.0.0.1", acceptor_.local_endpoint().port()};
}

void EchoServer::accept_next() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (!error) std::make_shared<Echo>(std::move(socket))->read();
    accept_next();
  });
}

Line::Line(const testing::ServerEndpoint& endpoint) {
  // This does not block for long: on this machine the kernel accepts or refuses at once.
  socket_.connect({asio::ip::make_address(endpoint.host), endpoint.port});
}

void Line::write(std::string_view bytes) { asio::write(socket_, asio::buffer(bytes)); }

std::string Line::read(std::size_t count, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string bytes;
  while (bytes.size() < count) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || state(left) != LineState::readable) break;
    std::string piece(count - bytes.size(), '\0');
    error_code error;
    piece.resize(socket_.read_some(asio::buffer(piece), error));
    bytes += piece;
  }
  return bytes;
}

LineState Line::state(std::chrono::milliseconds limit) {
  pollfd readable{socket_.native_handle(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(limit.count())) <= 0) return LineState::silent;
  char character = 0;
  const auto count = ::recv(socket_.native_handle(), &character, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count > 0) return LineState::readable;
  return count == 0 ? LineState::ended : LineState::reset;
}

void Line::close_for_writing() {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace custodian::tests
