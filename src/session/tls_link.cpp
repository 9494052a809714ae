#include "session/tls_link.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

namespace custodian::detail {

namespace asio = boost::asio;
using Pair = asio::local::stream_protocol;

TlsLink::TlsLink(std::shared_ptr<SslContext> context, TcpStream server, ServerIdentity identity)
    : context_{std::move(context)},
      identity_{std::move(identity)},
      server_{std::move(server), *context_},
      client_{Pair::socket{server_.get_executor()}},
      pause_{server_.get_executor()},
      patience_{server_.get_executor()} {}

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
        const SSL* const tls = self->server_.native_handle();
        if (!error && ServerIdentity::was_shown(tls)) return self->begin(opened);
        const std::string reason = "TLS handshake: " + self->identity_.reason_of(error, tls);
        self->close();
        opened(error ? error : asio::error::no_permission, reason, {});
      });
}

void TlsLink::begin(const Opened& opened) {
  error_code error;
  OwnedSocket theirs = make_pair(error);
  if (error) {
    close();
    return opened(error, "no pair of sockets: " + error.message(), {});
  }
  take_from_client();
  take_from_server();
  opened({}, {}, std::move(theirs));
}

OwnedSocket TlsLink::make_pair(error_code& error) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    error = {errno, boost::system::system_category()};
    return {};
  }
  OwnedSocket ours{ends[0]};
  OwnedSocket theirs{ends[1]};
  client_.lowest_layer().assign(Pair{}, ours.get(), error);
  if (error) return {};
  static_cast<void>(ours.release());
  asio::socket_base::send_buffer_size size;
  client_.lowest_layer().get_option(size, error);
  // While a quarter of the pair is taken, as the kernel counts it, another quarter fits by a single
  // call, its overhead included. Asio writes at most so much by one call:
  constexpr std::size_t longest_write = std::size_t{64} << 10U;
  gate_ = FrameGate{std::min(static_cast<std::size_t>(size.value()) / 4, longest_write)};
  return theirs;
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
                            if (failed) return self->on_server_deaf();
                            self->take_from_client();
                          });
      });
}

// -- From the server to the C client --------------------------------------------------------------

void TlsLink::take_from_server() {
  try {
    make_room();
  } catch (const std::bad_alloc&) {
    // The server decides how much memory its replies take. A lack of it ends the connection only.
    return abort();
  }
  server_.async_read_some(asio::buffer(incoming_.data() + arrived_, incoming_.size() - arrived_),
                          [self = shared_from_this()](error_code error, std::size_t count) {
                            if (self->over_) return;
                            if (error) return self->on_server_gone(error);
                            self->arrived_ += count;
                            self->pass_on();
                          });
}

void TlsLink::make_room() {
  if (arrived_ == incoming_.size()) {
    incoming_.resize(2 * incoming_.size());
  } else if (arrived_ < record && incoming_.size() > record) {
    incoming_.resize(record);
    incoming_.shrink_to_fit();
  }
}

void TlsLink::pass_on() {
  using Step = FrameGate::Step;
  error_code error;
  const std::size_t waiting = unread(error);
  if (error) return abort();
  const FrameGate::Verdict verdict = gate_.next({incoming_.data(), arrived_}, waiting);
  switch (verdict.step) {
    case Step::read_more: return take_from_server();
    case Step::hand_on: return hand_on(verdict.size);
    case Step::wait_for_reader: return wait_for_reader();
    case Step::judge: return judge(verdict.size);
  }
}

void TlsLink::hand_on(std::size_t size) {
  asio::async_write(client_, asio::buffer(incoming_.data(), size),
                    [self = shared_from_this(), size](error_code error, std::size_t) {
                      if (self->over_) return;
                      // If the client's end is closed, take_from_client() reads what is left there.
                      if (error == asio::error::broken_pipe) return;
                      if (error) return self->abort();
                      self->drop_front(size);
                      self->pass_on();
                    });
}

void TlsLink::wait_for_reader() {
  // The kernel says when a quarter of the pair is taken, but not when it is empty, for which a long
  // frame waits.
  pause_.expires_after(std::chrono::milliseconds{1});
  pause_.async_wait([self = shared_from_this()](error_code) {
    if (!self->over_) self->pass_on();
  });
}

void TlsLink::judge(std::size_t size) {
  if (judge_ && !judge_({incoming_.data(), size})) return abort();
  gate_.accepted(size);
  pass_on();
}

void TlsLink::drop_front(std::size_t size) {
  const auto begin = incoming_.begin();
  std::copy(begin + static_cast<std::ptrdiff_t>(size),
            begin + static_cast<std::ptrdiff_t>(arrived_), begin);
  arrived_ -= size;
}

std::size_t TlsLink::unread(error_code& error) {
  int bytes = 0;
  if (::ioctl(client_.lowest_layer().native_handle(), SIOCOUTQ, &bytes) != 0) {
    error = {errno, boost::system::system_category()};
  }
  return static_cast<std::size_t>(bytes);
}

// -- The end --------------------------------------------------------------------------------------

/// The server, or TLS, has ended the connection.
void TlsLink::on_server_gone(error_code error) {
  // ZooKeeper's frames have their lengths, so an end without TLS's own is no attack; servers that
  // die send none.
  if (error.category() == asio::error::get_ssl_category()) {
    fault_ = identity_.reason_of(error, server_.native_handle());
  }
  abort();
}

/// The server takes nothing more. What it has said before is still to be read: replies, or the
/// reason.
void TlsLink::on_server_deaf() {
  after_patience([](TlsLink& self) { self.abort(); });
}

/// The C client has closed its end. All that it has sent has been read, and is on its way.
void TlsLink::on_client_gone() {
  over_ = true;
  // A server that does not say goodbye is not waited for.
  after_patience([](TlsLink& self) { self.close(); });
  server_.async_shutdown([self = shared_from_this()](error_code) { self->close(); });
}

void TlsLink::after_patience(void (*end)(TlsLink&)) {
  patience_.expires_after(std::chrono::seconds{1});
  patience_.async_wait([self = shared_from_this(), end](error_code cancelled) {
    if (!cancelled) end(*self);
  });
}

void TlsLink::abort() {
  server_.next_layer().reset();
  close();
}

/// Closes both sockets. The kernel still sends to the server what was written before.
void TlsLink::close() {
  over_ = true;
  pause_.cancel();
  patience_.cancel();
  judge_ = nullptr;
  server_.next_layer().close();
  client_.close();
}

}  // namespace custodian::detail
