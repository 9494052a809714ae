#include "session/connector.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <utility>

namespace custodian::detail {

namespace asio = boost::asio;
using asio::ip::tcp;

struct Connector::Attempt {
  explicit Attempt(const asio::any_io_executor& strand) : socket{strand}, timer{strand} {}

  tcp::socket socket;
  asio::steady_timer timer;
  Handler handler{};  ///< empty when the attempt has ended
};

namespace {

/// Asio's own sockets are inherited by every child process that the application starts.
error_code open(tcp::socket& socket, const tcp& protocol) {
  OwnedSocket fresh{
      ::socket(protocol.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)};
  if (fresh.get() < 0) return {errno, boost::system::system_category()};
  error_code error;
  socket.assign(protocol, fresh.get(), error);
  if (error) return error;
  static_cast<void>(fresh.release());
  socket.set_option(tcp::no_delay{true}, error);
  return error;
}

}  // namespace

Connector::Connector(asio::any_io_executor strand) : strand_{std::move(strand)} {}

Connector::~Connector() { cancel(); }

void Connector::connect(const tcp::endpoint& endpoint, std::chrono::milliseconds timeout,
                        Handler handler) {
  cancel();
  attempt_ = std::make_shared<Attempt>(strand_);
  attempt_->handler = std::move(handler);
  // Whichever comes first, the connection or the time, ends the attempt. `this` is alive as long as
  // the attempt has a handler: see cancel().
  const auto end = [this, attempt = attempt_](error_code error) {
    Handler ended = std::exchange(attempt->handler, nullptr);
    if (!ended) return;
    attempt->timer.cancel();
    attempt_.reset();
    OwnedSocket socket;
    if (!error) socket = OwnedSocket{attempt->socket.release(error)};
    boost::system::error_code ignored;
    attempt->socket.close(ignored);
    ended(error, std::move(socket));
  };
  if (const error_code error = open(attempt_->socket, endpoint.protocol())) {
    asio::post(strand_, [end, error] { end(error); });
    return;
  }
  attempt_->timer.expires_after(timeout);
  attempt_->timer.async_wait([end](error_code cancelled) {
    if (!cancelled) end(asio::error::timed_out);
  });
  attempt_->socket.async_connect(endpoint, [end](error_code error) { end(error); });
}

void Connector::cancel() {
  const auto attempt = std::exchange(attempt_, nullptr);
  if (!attempt) return;
  attempt->handler = nullptr;
  attempt->timer.cancel();
  boost::system::error_code ignored;
  attempt->socket.close(ignored);
}

}  // namespace custodian::detail
