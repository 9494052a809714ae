#include "session/tls_link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

#include "session/frames.hpp"
#include "session/inbox.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

TlsLink::TlsLink(std::shared_ptr<SslContext> context, asio::ip::tcp::socket socket,
                 ServerIdentity identity)
    : context_{std::move(context)},
      identity_{std::move(identity)},
      server_{std::move(socket), *context_},
      client_{server_.get_executor()},
      timer_{server_.get_executor()} {}

// -- The handshake --------------------------------------------------------------------------------

void TlsLink::open(Opened opened) {
  identity_.ask_for_name(server_.native_handle());
  // The stream, and its callback with it, dies with this link.
  server_.set_verify_callback([this](bool preverified, asio::ssl::verify_context& chain) {
    return identity_.accepts(preverified, chain);
  });
  server_.async_handshake(
      asio::ssl::stream_base::client,
      [self = shared_from_this(), opened = std::move(opened)](error_code error) {
        if (self->over_) return;
        if (!error) return self->begin(opened);
        const std::string reason =
            "TLS handshake: " + self->identity_.reason_of(error, self->server_.native_handle());
        self->close();
        opened(error, reason, {});
      });
}

void TlsLink::begin(const Opened& opened) {
  std::array<int, 2> ends{};
  error_code error;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    error = {errno, boost::system::system_category()};
    close();
    return opened(error, "no pair of sockets: " + error.message(), {});
  }
  OwnedSocket ours{ends[0]};
  OwnedSocket theirs{ends[1]};
  client_.assign(asio::local::stream_protocol{}, ours.get(), error);
  if (error) {
    close();
    return opened(error, "a pair of sockets: " + error.message(), {});
  }
  static_cast<void>(ours.release());
  take_from_client();
  take_from_server();
  opened({}, {}, std::move(theirs));
}

// -- From the C client to the server --------------------------------------------------------------

void TlsLink::take_from_client() {
  client_.async_read_some(
      asio::buffer(outgoing_), [self = shared_from_this()](error_code error, std::size_t count) {
        if (self->over_) return;
        if (error) return self->on_client_gone();
        asio::async_write(self->server_, asio::buffer(self->outgoing_.data(), count),
                          [self](error_code failed, std::size_t) {
                            if (self->over_) return;
                            if (failed) return self->on_server_gone(failed);
                            self->take_from_client();
                          });
      });
}

// -- From the server to the C client --------------------------------------------------------------

void TlsLink::take_from_server() {
  if (arrived_ == incoming_.size()) incoming_.resize(2 * incoming_.size());
  server_.async_read_some(asio::buffer(incoming_.data() + arrived_, incoming_.size() - arrived_),
                          [self = shared_from_this()](error_code error, std::size_t count) {
                            if (self->over_) return;
                            if (error) return self->on_server_gone(error);
                            self->arrived_ += count;
                            self->hand_on();
                          });
}

/// 1. Of a frame that is handed on in parts, all that is here goes on.
/// 2. Otherwise whole frames go on, and a part of one stays until the rest is here.
/// 3. A frame that is longer than Inbox judges as a whole goes on in parts.
void TlsLink::hand_on() {
  std::size_t ready = std::min(rest_of_frame_, arrived_);
  rest_of_frame_ -= ready;
  const WholeFrames frames = whole_frames({incoming_.data() + ready, arrived_ - ready});
  ready += frames.size;
  if (frames.next > Inbox::longest_whole) {
    rest_of_frame_ = frames.next - (arrived_ - ready);
    ready = arrived_;
  }
  if (ready == 0) return take_from_server();
  asio::async_write(client_, asio::buffer(incoming_.data(), ready),
                    [self = shared_from_this(), ready](error_code error, std::size_t) {
                      // If the client's end is closed, take_from_client() reads what is left there.
                      if (self->over_ || error) return;
                      auto& bytes = self->incoming_;
                      std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(ready),
                                bytes.begin() + static_cast<std::ptrdiff_t>(self->arrived_),
                                bytes.begin());
                      self->arrived_ -= ready;
                      if (self->arrived_ < record && bytes.size() > record) {
                        bytes.resize(record);
                        bytes.shrink_to_fit();
                      }
                      self->take_from_server();
                    });
}

// -- The end --------------------------------------------------------------------------------------

void TlsLink::on_server_gone(error_code error) {
  // ZooKeeper's frames have their lengths, so an end without TLS's own is no attack; servers that
  // die send none.
  if (error.category() == asio::error::get_ssl_category()) {
    fault_ = identity_.reason_of(error, server_.native_handle());
  }
  close();
}

void TlsLink::on_client_gone() {
  // All that it has sent has been read, and is on its way. A server that does not say goodbye is
  // not waited for.
  over_ = true;
  constexpr std::chrono::seconds patience{1};
  const auto self = shared_from_this();
  timer_.expires_after(patience);
  timer_.async_wait([self](error_code cancelled) {
    if (!cancelled) self->close();
  });
  server_.async_shutdown([self](error_code) {
    self->timer_.cancel();
    self->close();
  });
}

void TlsLink::abort() {
  error_code ignored;
  server_.lowest_layer().set_option(asio::socket_base::linger{true, 0}, ignored);
  close();
}

void TlsLink::close() {
  over_ = true;
  error_code ignored;
  timer_.cancel();
  server_.lowest_layer().close(ignored);
  client_.close(ignored);
}

}  // namespace custodian::detail
