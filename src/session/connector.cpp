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
  explicit Attempt(const asio::any_io_executor& strand)
      : stream{tcp::socket{strand}}, timer{strand} {}

  [[nodiscard]] tcp::socket& socket() { return stream.lowest_layer(); }

  TcpStream stream;
  asio::steady_timer timer;
  std::shared_ptr<SecureLink> link{};
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

Connector::Connector(asio::any_io_executor strand, std::shared_ptr<Tls> tls, Log log)
    : strand_{std::move(strand)}, tls_{std::move(tls)}, log_{std::move(log)} {}

Connector::~Connector() { cancel(); }

// Whichever comes first, the connection or the time, ends the attempt. This object is alive as long
// as the attempt has a handler: see cancel().

void Connector::connect(const Address& address, std::chrono::milliseconds timeout,
                        Handler handler) {
  cancel();
  const auto attempt = attempt_ = std::make_shared<Attempt>(strand_);
  attempt->handler = std::move(handler);
  if (const error_code error = open(attempt->socket(), address.endpoint.protocol())) {
    return asio::post(strand_, [this, attempt, error] {
      if (attempt->handler) end(attempt, {.error = error, .reason = error.message()});
    });
  }
  attempt->timer.expires_after(timeout);
  attempt->timer.async_wait([this, attempt](error_code cancelled) {
    if (cancelled || !attempt->handler) return;
    const error_code late = asio::error::timed_out;
    end(attempt,
        {.error = late, .reason = (attempt->link ? "TLS handshake: " : "") + late.message()});
  });
  attempt->socket().async_connect(address.endpoint, [this, attempt, address](error_code error) {
    if (!attempt->handler) return;
    if (error) return end(attempt, {.error = error, .reason = error.message()});
    if (tls_) return secure(attempt, address);
    OwnedSocket socket{attempt->socket().release(error)};
    end(attempt, {.error = error, .reason = error.message(), .socket = std::move(socket)});
  });
}

void Connector::secure(const std::shared_ptr<Attempt>& attempt, const Address& address) {
  try {
    attempt->link = tls_->link(std::move(attempt->stream), address, log_);
  } catch (const std::exception& failed) {
    return end(attempt, {.error = boost::asio::error::no_memory, .reason = failed.what()});
  }
  attempt->link->open([this, attempt](error_code error, std::string reason, OwnedSocket socket) {
    if (!attempt->handler) return;
    std::shared_ptr<SecureLink> link = error ? nullptr : std::exchange(attempt->link, nullptr);
    end(attempt, {.error = error,
                  .reason = std::move(reason),
                  .socket = std::move(socket),
                  .link = std::move(link)});
  });
}

void Connector::end(const std::shared_ptr<Attempt>& attempt, Dialled dialled) {
  const Handler ended = attempt->handler;
  cancel();
  ended(std::move(dialled));
}

void Connector::cancel() {
  const auto attempt = std::exchange(attempt_, nullptr);
  if (!attempt) return;
  attempt->handler = nullptr;
  attempt->timer.cancel();
  attempt->stream.reset();
  if (const auto link = std::exchange(attempt->link, nullptr)) link->abort();
}

}  // namespace custodian::detail
