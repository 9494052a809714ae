#pragma once

/// \file
/// GlobalOptions are the options of every subcommand: which servers, and how to connect to them.

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "custodian/client_options.hpp"

namespace custodian::cli {

using Credential = ClientOptions::Credential;

struct GlobalOptions {
  std::string servers{};
  std::string name_space{};
  std::chrono::milliseconds session_timeout{10'000};
  std::vector<Credential> auth{};
  /// Whether --tls was given. Any other option --tls-... turns on TLS, too.
  bool tls = false;
  std::string tls_ca{};
  std::string tls_cert{};
  std::string tls_key{};
  std::string tls_key_password_file{};
  std::string tls_server_name{};
  /// "gssapi" or "digest-md5", without which no other option --sasl-... is allowed; empty: no SASL.
  std::string sasl{};
  std::string sasl_keytab{};
  std::string sasl_user{};
  std::string sasl_password_file{};
  std::string sasl_server_name{};
  /// The number of times that -v was given.
  int verbosity = 0;

  /// Makes the client's options; the client logs to the standard error output. Throws UsageError if
  /// no server is named, if the options of SASL are incomplete or contradict each other, or if the
  /// password's file has no password.
  [[nodiscard]] ClientOptions client_options() const;
};

/// Adds the options to the command; `options` must outlive the parsing.
void add_global_options(CLI::App& app, GlobalOptions& options);

/// Removes the credentials (CUSTODIAN_AUTH) from the environment after they have been read: a child
/// process neither inherits them, nor shows them in its /proc/<pid>/environ. Call it while there is
/// only one thread.
void forget_credentials();

/// Parses "digest:user:password". Throws UsageError.
[[nodiscard]] Credential parse_credential(const std::string& text);

}  // namespace custodian::cli
