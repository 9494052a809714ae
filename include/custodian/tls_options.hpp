#pragma once

/// \file
/// TlsOptions say how a client proves who it is, and how it checks who its servers are, over TLS.

#include <functional>
#include <string>

/// OpenSSL's context.
struct ssl_ctx_st;

namespace custodian {

/// A version of the protocol.
enum class TlsVersion { tls_1_2, tls_1_3 };

/// TLS for a client: `ClientOptions::tls`. A plain struct; every file is in PEM form.
///
/// The defaults verify the server's certificate: it must be signed by an authority that the client
/// trusts, and be for the server's name as it stands in `ClientOptions::servers`. A client with TLS
/// never falls back to plain text.
///
/// *Files* are read when the client is made, which throws Error (invalid_argument) if one is
/// missing or wrong. They are read again before a connection is made if one of them has changed
/// since, so certificates are renewed without a restart. If the new ones are wrong, the client goes
/// on with the earlier ones, and logs a warning.
///
/// A library that was built without TLS (`CUSTODIAN_TLS=OFF`) refuses these options.
struct TlsOptions {
  /// The certificates of the authorities that are trusted. If this and `ca_directory` are empty,
  /// those of the system are trusted; otherwise the system's are not.
  std::string ca_file{};
  /// A directory of such certificates, each under the hash of its name (`openssl rehash`).
  std::string ca_directory{};

  /// This client's certificate, followed by those that lead to the authority. ZooKeeper servers ask
  /// for one unless their `ssl.clientAuth` says otherwise.
  std::string certificate_chain_file{};
  /// The certificate's key. Empty: it is in `certificate_chain_file`.
  std::string private_key_file{};
  /// The password of an encrypted key, asked for when the key is read: on the thread that makes the
  /// client, and on the client's strand when a changed file is read. Wins over
  /// `private_key_password_file`.
  std::function<std::string()> private_key_password{};
  /// A file whose first line is that password.
  std::string private_key_password_file{};

  /// The certificates that the authorities have revoked. With it, each authority on the way to a
  /// server's certificate needs a list that has not ended.
  std::string crl_file{};

  /// The name or address that the server's certificate must be for. Empty: the host's, as it stands
  /// in `ClientOptions::servers`; that is never asked of the name service.
  std::string server_name{};
  /// Whether the certificate must be for that name. Without it, anyone with a certificate of a
  /// trusted authority can be "the server"; the client logs a warning.
  bool verify_hostname = true;

  /// Older versions are refused. ZooKeeper 3.8 speaks 1.2 only, unless it is configured otherwise.
  TlsVersion minimum_version = TlsVersion::tls_1_2;

  /// Called with each new context after the options above were applied, for what has none: ciphers,
  /// engines, OCSP. An exception is as a file that is wrong.
  std::function<void(ssl_ctx_st*)> configure{};
};

}  // namespace custodian
