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
  /// The names that led to the address, or the options' one.
  ServerIdentity(const TlsOptions& options, const Address& address);

  /// Names the server in the handshake (SNI) by the first name, unless there are only addresses.
  void ask_for_name(SSL* connection) const;

  /// For OpenSSL's verification: refuses a certificate which is for none of the names, and what a
  /// callback of TlsOptions::configure refuses. `preverified` is OpenSSL's own judgement of the
  /// chain so far, which such a callback may overrule.
  [[nodiscard]] bool accepts(bool preverified, boost::asio::ssl::verify_context& chain);
  /// Whether the server has shown a certificate at all. Nothing is verified where it has not:
  /// ciphers without certificates, which TlsOptions::configure can allow, need none.
  [[nodiscard]] static bool was_shown(const SSL* connection);
  /// Why the connection has failed, for people.
  [[nodiscard]] std::string reason_of(error_code error, const SSL* connection) const;

 private:
  std::vector<std::string> names_;
  bool verifies_name_;
  std::string refusal_;  ///< of a certificate; empty if there was none
};

}  // namespace custodian::detail
