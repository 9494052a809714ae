#pragma once

/// \file
/// A handshake between a client with these options and a server, both in this process.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "custodian/testing/certificate_authority.hpp"
#include "session/server_identity.hpp"
#include "session/tls_context.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

struct HandshakeResult {
  std::string refusal{};  ///< why the client refuses the server; empty if it accepts it
  std::string asked{};    ///< the server name (SNI) that the client sent; empty if none
};

/// `names` are the names that resolved to the server's address. `others` are certificates that the
/// server sends after its own.
inline HandshakeResult handshake(const TlsOptions& options, const std::vector<std::string>& names,
                                 const testing::IssuedCertificate& server,
                                 const std::string& others = {}) {
  namespace asio = boost::asio;
  namespace ssl = boost::asio::ssl;
  using Socket = asio::local::stream_protocol::socket;

  ssl::context server_context{ssl::context::tls_server};
  server_context.use_certificate_chain(asio::buffer(server.certificate + others));
  server_context.use_private_key(asio::buffer(server.key), ssl::context::pem);
  const auto client_context = detail::make_ssl_context(options);

  asio::io_context context;
  Socket client_end{context};
  Socket server_end{context};
  asio::local::connect_pair(client_end, server_end);
  ssl::stream<Socket> at_client{std::move(client_end), *client_context};
  ssl::stream<Socket> at_server{std::move(server_end), server_context};

  detail::ServerIdentity identity{options, {{}, names}};
  identity.ask_for_name(at_client.native_handle());
  at_client.set_verify_callback([&](bool preverified, ssl::verify_context& chain) {
    return identity.accepts(preverified, chain);
  });
  HandshakeResult result;
  bool is_over = false;
  at_client.async_handshake(ssl::stream_base::client, [&](error_code error) {
    is_over = true;
    if (error) result.refusal = identity.reason_of(error, at_client.native_handle());
    at_client.lowest_layer().close();
  });
  at_server.async_handshake(ssl::stream_base::server, [&](error_code) {
    const char* const asked =
        ::SSL_get_servername(at_server.native_handle(), TLSEXT_NAMETYPE_host_name);
    if (asked != nullptr) result.asked = asked;
  });
  context.run_for(std::chrono::seconds{30});
  REQUIRE(is_over);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace custodian::tests
