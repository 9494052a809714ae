#pragma once

/// \file
/// ServerIdentity judges whether a server's certificate is for the server that was meant.

#include <boost/asio/ssl/verify_context.hpp>
#include <string>
#include <vector>

#include "custodian/tls_options.hpp"
#include "session/address.hpp"

namespace custodian::detail {

class ServerIdentity {
 public:
  /// The names that led to the address, or the options' one.
  ServerIdentity(const TlsOptions& options, const Address& address);

  /// The name to ask the server for (SNI); empty if there is none, for an address is no name.
  [[nodiscard]] std::string name_to_ask_for() const;

  /// For OpenSSL's verification: refuses a certificate which is for none of the names.
  /// `preverified` is OpenSSL's own judgement of the chain so far.
  [[nodiscard]] bool accepts(bool preverified, boost::asio::ssl::verify_context& chain);
  /// Why it was refused, in words; empty if it was not.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

 private:
  std::vector<std::string> names_;
  bool verifies_name_;
  std::string refusal_;
};

}  // namespace custodian::detail
