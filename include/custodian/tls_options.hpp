#pragma once

/// \file
/// TlsOptions say how a client proves its identity by TLS, and how it verifies its servers.

#include <functional>
#include <string>

/// OpenSSL's `SSL_CTX`: the settings that TLS connections have in common.
struct ssl_ctx_st;

namespace custodian {

/// A version of the TLS protocol.
enum class TlsVersion { tls_1_2, tls_1_3 };

/// The options of TLS for a client: `ClientOptions::tls`. A plain struct; every file is in PEM
/// form.
///
/// By default, the client verifies the server's certificate: it must be signed by an authority that
/// the client trusts, and be for the server's name as it stands in `ClientOptions::servers`. A
/// client with TLS never falls back to plain text.
///
/// *Files* are read when the client is made; its constructor throws Error (invalid_argument) if a
/// file is missing or wrong. All files are read again before a connection is made if one of them,
/// or the list of the files in `ca_directory`, has changed since, so certificates are renewed
/// without a restart. If the new files are wrong, the client goes on with the contents of the
/// earlier ones, and logs a warning once; the files are then read again for later connections, once
/// a second at most.
///
/// A library that was built without TLS (`CUSTODIAN_TLS=OFF`) refuses these options.
struct TlsOptions {
  /// The certificates of the authorities that the client trusts. The authorities of the system are
  /// trusted only if this and `ca_directory` are both empty; a change of the system's authorities
  /// is not noticed.
  std::string ca_file{};
  /// A directory with certificates of authorities that the client trusts, each in a file that is
  /// named by the hash of the authority's name (`openssl rehash`). A change of such a file's
  /// contents under the same name is not noticed.
  std::string ca_directory{};

  /// This client's certificate, followed by the certificates that lead to its authority. ZooKeeper
  /// servers ask for a client's certificate unless their `ssl.clientAuth` says otherwise.
  std::string certificate_chain_file{};
  /// The private key of the certificate. Empty: the key is in `certificate_chain_file`.
  std::string private_key_file{};
  /// Returns the password of an encrypted key. Called when the key is read: on the thread that
  /// makes the client, and on the client's strand when a changed file is read. Wins over
  /// `private_key_password_file`.
  std::function<std::string()> private_key_password{};
  /// A file whose first line is the password of an encrypted key.
  std::string private_key_password_file{};

  /// The certificates that the authorities have revoked. If this is set, the file must have a list
  /// that has not expired for each authority on the way to a server's certificate.
  std::string crl_file{};

  /// The name or address that the server's certificate must be for, in its `subjectAltName`; its
  /// common name does not count. Empty: the host as it stands in `ClientOptions::servers`, never a
  /// name that the name service returns. The handshake also sends the name (SNI); if several hosts
  /// have led to the server's address, it sends the first name.
  std::string server_name{};
  /// Whether the server's certificate must be for the server's name. If not, everyone with a
  /// certificate of a trusted authority can pose as the server; the client logs a warning.
  bool verify_hostname = true;

  /// The oldest version of TLS that the client accepts. ZooKeeper 3.8 speaks 1.2 only, unless it is
  /// configured otherwise.
  TlsVersion minimum_version = TlsVersion::tls_1_2;

  /// Makes those settings in OpenSSL's context that have no option here: ciphers, engines, OCSP.
  /// Called for each new context, after the other options were applied. It runs where the files are
  /// read: on the thread that makes the client, and on the client's strand when files have changed,
  /// so it must not block. An exception has the effect of a wrong file.
  ///
  /// The function may set a verify callback (`SSL_CTX_set_verify`), which is called for each
  /// certificate and must not throw. The callback may refuse a certificate that OpenSSL accepts,
  /// and accept one that OpenSSL refuses; the client verifies the server's name in either case.
  /// Servers are verified whatever mode is passed to `SSL_CTX_set_verify`. Only a callback of
  /// `SSL_CTX_set_cert_verify_callback` replaces the whole verification, that of the name included.
  ///
  /// Asio keeps objects of its own in the context and in its connections. So `SSL_CTX_set_app_data`
  /// is refused, `SSL_get_app_data` is Asio's, and a password callback that the function
  /// sets is in force only until the function returns. Indices from `SSL_get_ex_new_index` are free
  /// to use.
  std::function<void(ssl_ctx_st*)> configure{};
};

}  // namespace custodian
