#include "session/tls_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace custodian::detail {

namespace asio = boost::asio;

TlsStream::TlsStream(std::shared_ptr<SslContext> context, TcpStream server, ServerIdentity identity)
    : context_{std::move(context)},
      identity_{std::move(identity)},
      server_{std::move(server), *context_} {
  // If the server asked for a renegotiation during read_on(), Asio would not send OpenSSL's answer,
  // and each side would wait for the other. So OpenSSL refuses renegotiations, and the refusal goes
  // with the next request.
  ::SSL_set_options(server_.native_handle(), SSL_OP_NO_RENEGOTIATION);
}

asio::any_io_executor TlsStream::get_executor() { return server_.get_executor(); }

void TlsStream::open(Opened opened) {
  identity_.ask_for_name(server_.native_handle());
  // Capturing `this` is safe: the callback is destroyed with the stream, and the stream with this
  // object.
  server_.set_verify_callback([this](bool preverified, asio::ssl::verify_context& chain) {
    return identity_.accepts(preverified, chain);
  });
  server_.async_handshake(asio::ssl::stream_base::client,
                          [this, opened = std::move(opened)](error_code error) {
                            const SSL* const tls = server_.native_handle();
                            if (!error && ServerIdentity::was_shown(tls)) return opened({}, {});
                            opened(error ? error : asio::error::no_permission,
                                   "TLS handshake: " + identity_.reason_of(error, tls));
                          });
}

void TlsStream::read_some(asio::mutable_buffer buffer, Done done) {
  if (failed_) {
    return asio::post(get_executor(),
                      [done = std::move(done), error = failed_] { done(error, 0); });
  }
  server_.async_read_some(
      buffer, [this, buffer, done = std::move(done)](error_code error, std::size_t count) {
        if (!error) count += read_on(buffer + count);
        done(error, count);
      });
}

/// A server sends each reply in a record of its own, and OpenSSL reads one record at a time. The
/// records that have come with the first one are read here, so that all of them are handed on
/// together.
std::size_t TlsStream::read_on(asio::mutable_buffer buffer) {
  SSL* const tls = server_.native_handle();
  const std::size_t room = buffer.size();
  while (buffer.size() > 0) {
    ::ERR_clear_error();
    std::size_t count = 0;
    const int result = ::SSL_read_ex(tls, buffer.data(), buffer.size(), &count);
    if (result != 1) {
      // OpenSSL gives the reason only once, so it is kept for the next read, which reports it. The
      // server gets no alert, but the end of the connection.
      if (::SSL_get_error(tls, result) == SSL_ERROR_SSL) {
        failed_ = {static_cast<int>(::ERR_get_error()), asio::error::get_ssl_category()};
      }
      break;
    }
    buffer += count;
  }
  return room - buffer.size();
}

void TlsStream::write(asio::const_buffer buffer, Done done) {
  asio::async_write(server_, buffer, std::move(done));
}

void TlsStream::shut_down(std::function<void()> done) {
  server_.async_shutdown([done = std::move(done)](error_code) { done(); });
}

void TlsStream::close() { server_.next_layer().close(); }

void TlsStream::reset() { server_.next_layer().reset(); }

std::string TlsStream::fault_of(error_code error) {
  // An end of the connection without close_notify is no fault of TLS: servers that die send none,
  // and nothing is cut off unnoticed, because ZooKeeper's frames have lengths.
  if (error.category() != asio::error::get_ssl_category()) return {};
  return "TLS: " + identity_.reason_of(error, server_.native_handle());
}

}  // namespace custodian::detail
