#pragma once

/// \file
/// The contexts of a server whose certificate is for localhost, and of a client that trusts it.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/verify_mode.hpp>
#include <memory>

#include "custodian/testing/certificate_authority.hpp"
#include "session/tls_context.hpp"

namespace custodian::tests {

inline const testing::CertificateAuthority& authority() {
  static const testing::CertificateAuthority made;
  return made;
}

inline detail::SslContext server_context() {
  const testing::IssuedCertificate identity = authority().issue();
  detail::SslContext context{detail::SslContext::tls_server};
  context.use_certificate_chain(boost::asio::buffer(identity.certificate));
  context.use_private_key(boost::asio::buffer(identity.key), detail::SslContext::pem);
  return context;
}

inline std::shared_ptr<detail::SslContext> client_context() {
  auto context = std::make_shared<detail::SslContext>(detail::SslContext::tls_client);
  context->set_verify_mode(boost::asio::ssl::verify_peer);
  context->add_certificate_authority(boost::asio::buffer(authority().certificate()));
  return context;
}

}  // namespace custodian::tests
