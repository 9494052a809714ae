#pragma once

/// \file
/// A certificate authority for a test of TLS: it issues certificates for servers and clients, good
/// ones and bad ones, without a command and without a file.
///
/// \code
/// const custodian::testing::CertificateAuthority authority;
/// custodian::testing::TestingServer server{{.tls = authority.server_tls()}};
/// \endcode
///
/// When not to use it: for anything but tests. The authority keeps its key in memory, and issues
/// certificates to every caller.
///
/// Needs OpenSSL when Custodian is built (`CUSTODIAN_TLS`); otherwise the constructor throws
/// `TestingError`. Threads: any thread may call the const functions.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {

/// The contents of a certificate.
struct CertificateOptions {
  /// The subject's common name.
  std::string common_name = "localhost";
  /// The names that the certificate is for. Without names and addresses it has no `subjectAltName`.
  std::vector<std::string> names{"localhost"};
  /// The IP addresses that the certificate is for.
  std::vector<std::string> addresses{"127.0.0.1", "::1"};
  /// How long the certificate is valid from now on. Its validity began two days ago, so a negative
  /// time gives an expired certificate.
  std::chrono::seconds ends_in = std::chrono::hours{24};
  /// Encrypts the key, unless it is empty. ZooKeeper servers take no encrypted keys.
  std::string key_password{};
};

/// A certificate, and the key to it.
struct IssuedCertificate {
  std::string certificate{};  ///< PEM
  std::string key{};          ///< PEM, in the form PKCS#8
  long serial = 0;            ///< the number by which it is revoked
};

/// Whether a server asks its clients for certificates (zoo.cfg: ssl.clientAuth).
enum class ClientCertificates { ignored, wanted, needed };

/// The TLS side of a `TestingServer`.
struct ServerTls {
  /// The server's certificate.
  IssuedCertificate identity{};
  /// The certificate of the authority that issues the clients' certificates, in PEM form.
  std::string clients_authority{};
  /// Whether the server asks clients for certificates.
  ClientCertificates client_certificates = ClientCertificates::ignored;
  /// The port for clients with TLS; 0: a free one.
  std::uint16_t port = 0;
};

/// A certificate authority for a test of TLS.
/// \copydetails custodian/testing/certificate_authority.hpp
class CertificateAuthority {
 public:
  /// Makes a key, and a certificate that is signed with it. Throws `TestingError`.
  explicit CertificateAuthority(const std::string& name = "Custodian test authority");
  ~CertificateAuthority();
  /// Moves the authority; the other object may only be destroyed afterwards.
  CertificateAuthority(CertificateAuthority&&) noexcept;
  /// Moves the authority; the other object may only be destroyed afterwards.
  CertificateAuthority& operator=(CertificateAuthority&&) noexcept;

  /// Makes an authority whose own certificate this one signs. Clients and servers that trust this
  /// authority also trust the new one's certificates, if the new one's own certificate is sent
  /// along. Throws `TestingError`.
  [[nodiscard]] CertificateAuthority subordinate(const std::string& name) const;

  /// The authority's own certificate, in PEM form, for programs that are to trust it.
  [[nodiscard]] const std::string& certificate() const noexcept;
  /// Issues a certificate. Throws `TestingError`, for instance for a malformed address.
  [[nodiscard]] IssuedCertificate issue(const CertificateOptions& options = {}) const;
  /// The list of the revoked certificates, in PEM form. `ends_in` means the same as for a
  /// certificate (`CertificateOptions::ends_in`).
  [[nodiscard]] std::string revocation_list(const std::vector<IssuedCertificate>& revoked,
                                            std::chrono::seconds ends_in = std::chrono::hours{
                                                24}) const;
  /// The TLS options of a server that has a certificate of this authority, and trusts clients that
  /// have one.
  [[nodiscard]] ServerTls server_tls(
      ClientCertificates client_certificates = ClientCertificates::ignored,
      const CertificateOptions& options = {}) const;

 private:
  struct Impl;
  explicit CertificateAuthority(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace custodian::testing
