#include "wire/deadline_socket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace custodian::testing {

namespace asio = boost::asio;
using boost::system::error_code;

DeadlineSocket::DeadlineSocket(const ServerEndpoint& endpoint, Clock::time_point deadline)
    : name_{to_string(endpoint)}, deadline_{deadline} {
  // resolve() has no deadline. That is harmless for "localhost" and for addresses, which the
  // servers of this library have; another host's name may take longer than the deadline.
  asio::ip::tcp::resolver resolver{context_};
  error_code error;
  const auto addresses = resolver.resolve(endpoint.host, std::to_string(endpoint.port), error);
  if (error) throw TestingError{"cannot resolve " + name_ + ": " + error.message()};
  asio::async_connect(socket_, addresses,
                      [&error](error_code result, const auto&) { error = result; });
  finish(error, "connect to");
}

void DeadlineSocket::write(std::string_view bytes) {
  error_code error;
  asio::async_write(socket_, asio::buffer(bytes),
                    [&error](error_code result, std::size_t) { error = result; });
  finish(error, "write to");
}

std::string DeadlineSocket::read(std::size_t count) {
  std::string bytes(count, '\0');
  error_code error;
  asio::async_read(socket_, asio::buffer(bytes),
                   [&error](error_code result, std::size_t) { error = result; });
  finish(error, "read from");
  return bytes;
}

std::string DeadlineSocket::read_to_end() {
  std::string bytes;
  error_code error;
  asio::async_read(socket_, asio::dynamic_buffer(bytes), [&error](error_code result, std::size_t) {
    error = result == asio::error::eof ? error_code{} : result;
  });
  finish(error, "read from");
  return bytes;
}

void DeadlineSocket::finish(const error_code& error, const char* what) {
  context_.restart();
  context_.run_until(deadline_);
  if (!context_.stopped()) {
    error_code ignored;
    socket_.close(ignored);
    context_.run();
    throw TestingError{std::string{"cannot "} + what + " " + name_ + ": no answer in time"};
  }
  if (error)
    throw TestingError{std::string{"cannot "} + what + " " + name_ + ": " + error.message()};
}

}  // namespace custodian::testing
