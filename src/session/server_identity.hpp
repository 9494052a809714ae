#pragma once

/// \file
/// ServerIdentity judges whether a server's certificate is for the server that was meant, and says
/// what went wrong with TLS.

#include <openssl/ssl.h>

#include <boost/asio/ssl/verify_context.hpp>
#include <string>
#include <vector>

#include "custodian/error.hpp"
#include "custodian/tls_options.hpp"
#include "session/address.hpp"

namespace custodian::detail {

class ServerIdentity {
 public:
  /// The server's names are those that resolve to the address, or TlsOptions::server_name if that
  /// is given.
  ServerIdentity(const TlsOptions& options, const Address& address);

  /// Names the server in the handshake (SNI) by the first of its names that is no address.
  void ask_for_name(SSL* connection) const;

  /// Called during OpenSSL's verification. Refuses a certificate that is for none of the names, or
  /// that a callback of TlsOptions::configure refuses. `preverified` is OpenSSL's own judgement of
  /// the chain so far, which such a callback may overrule.
  [[nodiscard]] bool accepts(bool preverified, boost::asio::ssl::verify_context& chain);
  /// Whether the server has shown a certificate at all. If it has not, nothing was verified:
  /// ciphers without certificates, which TlsOptions::configure can allow, need none.
  [[nodiscard]] static bool was_shown(const SSL* connection);
  /// Why the connection has failed, in words for people.
  [[nodiscard]] std::string reason_of(error_code error, const SSL* connection) const;

 private:
  std::vector<std::string> names_;
  bool verifies_name_;
  std::string refusal_;  ///< why a certificate was refused; empty if none was
};

}  // namespace custodian::detail
