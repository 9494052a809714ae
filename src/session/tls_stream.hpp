#pragma once

/// \file
/// TlsStream is a ServerStream with TLS, by OpenSSL.

#include <boost/asio/ssl/stream.hpp>
#include <memory>

#include "session/process_stream.hpp"
#include "session/server_identity.hpp"
#include "session/server_stream.hpp"
#include "session/tls_context.hpp"

namespace custodian::detail {

class TlsStream final : public ServerStream {
 public:
  TlsStream(std::shared_ptr<SslContext> context, TcpStream server, ServerIdentity identity);

  [[nodiscard]] boost::asio::any_io_executor get_executor() override;
  [[nodiscard]] std::string_view opening() const noexcept override { return "TLS handshake"; }
  void open(Opened opened) override;
  void read_some(boost::asio::mutable_buffer buffer, Done done) override;
  void write(boost::asio::const_buffer buffer, Done done) override;
  void shut_down(std::function<void()> done) override;
  void close() override;
  void reset() override;
  [[nodiscard]] std::string fault_of(error_code error) override;

 private:
  [[nodiscard]] std::size_t read_on(boost::asio::mutable_buffer buffer);

  const std::shared_ptr<SslContext> context_;
  ServerIdentity identity_;
  boost::asio::ssl::stream<TcpStream> server_;
  error_code failed_{};  ///< the failure behind the bytes that were read last
};

}  // namespace custodian::detail
