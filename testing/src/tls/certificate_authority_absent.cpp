// This file takes the place of certificate_authority.cpp where Custodian is built without OpenSSL.
#include <utility>

#include "custodian/testing/certificate_authority.hpp"

namespace custodian::testing {

struct CertificateAuthority::Impl {};

CertificateAuthority::CertificateAuthority(const std::string&) {
  throw TestingError{
      "this build of Custodian has no TLS; it needs OpenSSL's headers (libssl-dev) and "
      "-DCUSTODIAN_TLS=ON"};
}

CertificateAuthority::CertificateAuthority(std::unique_ptr<Impl> impl) noexcept
    : impl_{std::move(impl)} {}

CertificateAuthority::~CertificateAuthority() = default;
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;

// The functions below are never called, because the constructor throws, so that no object exists.
CertificateAuthority CertificateAuthority::subordinate(const std::string& name) const {
  return CertificateAuthority{name};
}
const std::string& CertificateAuthority::certificate() const noexcept {
  static const std::string none;
  return none;
}
IssuedCertificate CertificateAuthority::issue(const CertificateOptions&) const { return {}; }
std::string CertificateAuthority::revocation_list(const std::vector<IssuedCertificate>&,
                                                  std::chrono::seconds) const {
  return {};
}
ServerTls CertificateAuthority::server_tls(ClientCertificates, const CertificateOptions&) const {
  return {};
}

}  // namespace custodian::testing
