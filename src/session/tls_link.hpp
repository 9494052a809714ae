#pragma once

/// \file
/// TlsLink is a SecureLink by OpenSSL: a pump between a pair of local sockets, one end of which is
/// the C client's, and a TLS stream to the server.
///
/// What comes from the server is handed on in whole frames, as far as they fit: Inbox, at the other
/// end, looks at frames while they are in the kernel.
///
/// A delay in the link is on the safe side for leases: a request's time `sent` is taken before its
/// bytes enter the link, and `acknowledged` after the answer has left it.

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "session/secure_link.hpp"
#include "session/server_identity.hpp"
#include "session/tls_context.hpp"

namespace custodian::detail {

class TlsLink final : public SecureLink, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(std::shared_ptr<SslContext> context, boost::asio::ip::tcp::socket socket,
          ServerIdentity identity);

  void open(Opened opened) override;
  void abort() override;
  [[nodiscard]] const std::string& fault() const noexcept override { return fault_; }

 private:
  void begin(const Opened& opened);
  // From the C client to the server, and back.
  void take_from_client();
  void take_from_server();
  void hand_on();
  /// The server, or TLS, has ended the connection.
  void on_server_gone(error_code error);
  /// The C client has closed its end.
  void on_client_gone();
  void close();

  /// A TLS record has at most this size.
  static constexpr std::size_t record = std::size_t{16} << 10U;

  const std::shared_ptr<SslContext> context_;
  ServerIdentity identity_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> server_;
  boost::asio::local::stream_protocol::socket client_;
  boost::asio::steady_timer timer_;
  std::vector<char> outgoing_ = std::vector<char>(record);
  std::vector<char> incoming_ = std::vector<char>(record);
  std::size_t arrived_ = 0;  ///< bytes in `incoming_`
  /// So many bytes of a frame that is handed on in parts are still to come.
  std::size_t rest_of_frame_ = 0;
  std::string fault_;
  bool over_ = false;
};

}  // namespace custodian::detail
