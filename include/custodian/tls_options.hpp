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
/// missing or wrong. All are read again before a connection is made if one of them, or the list of
/// the files in `ca_directory`, has changed since, so certificates are renewed without a restart.
/// If the new ones are wrong, the client goes on with the earlier ones, and logs a warning once;
/// the same files are then read again with later connections, once a second at most.
///
/// A library that was built without TLS (`CUSTODIAN_TLS=OFF`) refuses these options.
struct TlsOptions {
  /// The certificates of the authorities that are trusted. If this and `ca_directory` are empty,
  /// those of the system are trusted; otherwise the system's are not. A change of the system's own
  /// is not noticed.
  std::string ca_file{};
  /// A directory of such certificates, each under the hash of its name (`openssl rehash`). A file
  /// in it that keeps its name while its contents change is not noticed.
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

  /// The name or address that the server's certificate must be for, in its `subjectAltName`; its
  /// common name does not count. Empty: the host's, as it stands in `ClientOptions::servers`; that
  /// is never asked of the name service. The first such name is also asked for in the handshake
  /// (SNI), if several have led to the server's address.
  std::string server_name{};
  /// Whether the certificate must be for that name. Without it, anyone with a certificate of a
  /// trusted authority can be "the server"; the client logs a warning.
  bool verify_hostname = true;

  /// Older versions are refused. ZooKeeper 3.8 speaks 1.2 only, unless it is configured otherwise.
  TlsVersion minimum_version = TlsVersion::tls_1_2;

  /// Called with each new context after the options above were applied, for what has none: ciphers,
  /// engines, OCSP. It runs where the files are read: on the thread that makes the client, and on
  /// the client's strand when they have changed, so it must not block. An exception is as a file
  /// that is wrong.
  ///
  /// A verify callback (`SSL_CTX_set_verify`) is called for each certificate and must not throw. It
  /// may refuse what OpenSSL accepts, and, as always, accept a chain that OpenSSL refuses; the name
  /// is verified all the same. Servers are verified whatever mode is set with it. Only
  /// `SSL_CTX_set_cert_verify_callback` takes all of this over, the name included.
  ///
  /// Asio keeps objects of its own in the context and in its connections: `SSL_CTX_set_app_data` is
  /// refused, `SSL_get_app_data` is not the hook's, and a password callback that the hook sets is
  /// in force only until the hook returns. Indices from `SSL_get_ex_new_index` are free.
  std::function<void(ssl_ctx_st*)> configure{};
};

}  // namespace custodian
