#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "servers/line_to_server.hpp"
#include "session/server_identity.hpp"
#include "session/tls_context.hpp"

namespace custodian::cli {

namespace asio = boost::asio;

namespace {

class SecureLine final : public LineToServer {
 public:
  SecureLine(asio::ip::tcp::socket socket, const TlsOptions& options, const std::string& host)
      : context_{detail::make_ssl_context(options)},
        identity_{options, {{}, {host}}},
        stream_{std::move(socket), *context_} {
    identity_.ask_for_name(stream_.native_handle());
    stream_.set_verify_callback([this](bool preverified, asio::ssl::verify_context& chain) {
      return identity_.accepts(preverified, chain);
    });
  }

  void begin(Begun begun) override {
    stream_.async_handshake(asio::ssl::stream_base::client, [this, begun = std::move(begun)](
                                                                boost::system::error_code error) {
      const SSL* const tls = stream_.native_handle();
      const bool good = !error && detail::ServerIdentity::was_shown(tls);
      begun(good ? std::string{} : "TLS handshake: " + identity_.reason_of(error, tls));
    });
  }
  std::optional<std::chrono::system_clock::time_point> certificate_ends() const override {
    // The first certificate of the chain is the server's own.
    const STACK_OF(X509)* const chain = ::SSL_get_peer_cert_chain(native());
    if (chain == nullptr || sk_X509_num(chain) == 0) return std::nullopt;
    int days = 0;
    int seconds = 0;
    const ASN1_TIME* const end = ::X509_get0_notAfter(sk_X509_value(chain, 0));
    if (::ASN1_TIME_diff(&days, &seconds, nullptr, end) != 1) return std::nullopt;
    return std::chrono::system_clock::now() + std::chrono::days{days} +
           std::chrono::seconds{seconds};
  }
  void write(const std::string& question, Done done) override {
    asio::async_write(
        stream_, asio::buffer(question),
        [done = std::move(done)](boost::system::error_code error, std::size_t) { done(error); });
  }
  void read_to_end(std::string& answer, std::size_t most, Done done) override {
    asio::async_read(stream_, asio::dynamic_buffer(answer, most),
                     [done = std::move(done)](boost::system::error_code error, std::size_t) {
                       // ZooKeeper ends the connection after each answer without TLS's
                       // close_notify.
                       done(error == asio::ssl::error::stream_truncated ? asio::error::eof : error);
                     });
  }

 private:
  // Asio's native_handle() is not const.
  [[nodiscard]] const SSL* native() const {
    return const_cast<SecureLine*>(this)->stream_.native_handle();
  }

  std::shared_ptr<detail::SslContext> context_;
  detail::ServerIdentity identity_;
  asio::ssl::stream<asio::ip::tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<LineToServer> secure_line(asio::ip::tcp::socket socket, const TlsOptions& options,
                                          const std::string& host) {
  return std::make_unique<SecureLine>(std::move(socket), options, host);
}

}  // namespace custodian::cli
