#include "options/global_options.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "options/duration_option.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"
#include "servers/server_address.hpp"

namespace custodian::cli {
namespace {

constexpr const char* credential_variable = "CUSTODIAN_AUTH";

/// The options of TLS; nothing if no option and no "secure://" in the servers asks for TLS.
std::optional<TlsOptions> tls_of(const GlobalOptions& options) {
  const std::string any = options.tls_ca + options.tls_cert + options.tls_key +
                          options.tls_key_password_file + options.tls_server_name;
  if (!options.tls && any.empty() && !is_secure(options.servers)) return std::nullopt;
  return TlsOptions{.ca_file = options.tls_ca,
                    .certificate_chain_file = options.tls_cert,
                    .private_key_file = options.tls_key,
                    .private_key_password_file = options.tls_key_password_file,
                    .server_name = options.tls_server_name};
}

std::string first_line_of(const std::string& file) {
  std::ifstream lines{file};
  std::string line;
  std::getline(lines, line);
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) throw UsageError{"no password in the first line of " + file};
  return line;
}

/// Returns a function that provides the password. The function reads a regular file for each
/// connection, since passwords change. A pipe delivers its line only once, so it is read here.
std::function<std::string()> password_in(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) {
    return [line = first_line_of(file)] { return line; };
  }
  static_cast<void>(first_line_of(file));  // reports a missing password before the client starts
  return [file] { return first_line_of(file); };
}

std::optional<SaslOptions> sasl_of(const GlobalOptions& options) {
  const std::string& file = options.sasl_password_file;
  const std::string any = options.sasl_keytab + options.sasl_user + file + options.sasl_server_name;
  if (options.sasl.empty()) {
    if (any.empty()) return std::nullopt;
    throw UsageError{"by which mechanism? --sasl gssapi or --sasl digest-md5"};
  }
  SaslOptions sasl;
  sasl.server_name = options.sasl_server_name;
  sasl.client_keytab = options.sasl_keytab;
  sasl.user = options.sasl_user;
  if (options.sasl == "digest-md5") {
    sasl.mechanism = SaslMechanism::digest_md5;
    if (sasl.user.empty() || file.empty()) {
      throw UsageError{"--sasl digest-md5 needs --sasl-user and --sasl-password-file"};
    }
    if (!sasl.client_keytab.empty()) throw UsageError{"--sasl-keytab is for --sasl gssapi"};
    sasl.password = password_in(file);
  } else if (!sasl.user.empty() || !file.empty()) {
    throw UsageError{"--sasl-user and --sasl-password-file are for --sasl digest-md5"};
  }
  return sasl;
}

/// Adds an option that takes a word. The environment variable `variable` may give the word, too.
void add_word(CLI::App& app, const char* name, std::string& value, const char* variable,
              const char* type, const std::string& help, const std::string& group) {
  app.add_option(name, value, help + " [" + variable + "]")
      ->envname(variable)
      ->type_name(type)
      ->group(group);
}

void add_sasl_options(CLI::App& app, GlobalOptions& options, const std::string& group) {
  const auto add = [&](const char* name, std::string& value, const char* variable, const char* type,
                       const std::string& help) {
    add_word(app, name, value, variable, type, help, group);
  };
  app.add_option(
         "--sasl", options.sasl,
         "prove who we are by SASL: gssapi, which takes a ticket of Kerberos, or digest-md5 "
         "[CUSTODIAN_SASL]")
      ->envname("CUSTODIAN_SASL")
      ->type_name("MECHANISM")
      ->check(CLI::IsMember({"gssapi", "digest-md5"}))
      ->group(group);
  add("--sasl-keytab", options.sasl_keytab, "CUSTODIAN_SASL_KEYTAB", "FILE",
      "gssapi: get tickets with our key in this file");
  add("--sasl-user", options.sasl_user, "CUSTODIAN_SASL_USER", "NAME", "digest-md5: our name");
  add("--sasl-password-file", options.sasl_password_file, "CUSTODIAN_SASL_PASSWORD_FILE", "FILE",
      "digest-md5: our password, in the first line of this file");
  add("--sasl-server-name", options.sasl_server_name, "CUSTODIAN_SASL_SERVER_NAME", "NAME",
      "the host in the servers' principal, if it is not that in --servers");
}

void add_tls_options(CLI::App& app, GlobalOptions& options, const std::string& group) {
  app.add_flag("--tls", options.tls,
               "connect over TLS, as secure:// in front of the servers says, too; verifies the "
               "servers' certificates [CUSTODIAN_TLS]")
      ->envname("CUSTODIAN_TLS")
      ->group(group);
  const auto add = [&](const char* name, std::string& value, const char* variable, const char* type,
                       const std::string& help) {
    add_word(app, name, value, variable, type, help, group);
  };
  add("--tls-ca", options.tls_ca, "CUSTODIAN_TLS_CA", "FILE",
      "trust the authorities in this file, and not those of the system");
  add("--tls-cert", options.tls_cert, "CUSTODIAN_TLS_CERT", "FILE",
      "our certificate, and those that lead to its authority");
  add("--tls-key", options.tls_key, "CUSTODIAN_TLS_KEY", "FILE",
      "its key, if that is not in the same file");
  add("--tls-key-password-file", options.tls_key_password_file, "CUSTODIAN_TLS_KEY_PASSWORD_FILE",
      "FILE", "the key's password, in the first line of this file");
  add("--tls-server-name", options.tls_server_name, "CUSTODIAN_TLS_SERVER_NAME", "NAME",
      "the servers' certificates must be for this name, and not for that in --servers");
}

}  // namespace

ClientOptions GlobalOptions::client_options() const {
  if (servers.empty()) {
    throw UsageError{
        "which servers? Name them by --servers host:port,... or in the environment's "
        "CUSTODIAN_SERVERS"};
  }
  ClientOptions options;
  options.servers = servers;
  options.name_space = name_space;
  options.session_timeout = session_timeout;
  options.credentials = auth;
  options.tls = tls_of(*this);
  options.sasl = sasl_of(*this);
  options.log = client_log(verbosity);
  return options;
}

void forget_credentials() {
  const std::string prefix = std::string{credential_variable} + "=";
  // The variable's bytes are overwritten before it is removed, since a child of fork() has a copy
  // of them.
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    if (!text.starts_with(prefix)) continue;
    explicit_bzero(*entry + prefix.size(), text.size() - prefix.size());
  }
  unsetenv(credential_variable);
}

Credential parse_credential(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    throw UsageError{"a credential reads <scheme>:<value>, digest:user:password for one"};
  }
  return {.scheme = text.substr(0, colon), .value = text.substr(colon + 1)};
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  const std::string group = "Options of all commands";
  app.add_option("--servers", options.servers,
                 "ZooKeeper servers, host:port,host:port/chroot; with secure:// in front of all, "
                 "over TLS [CUSTODIAN_SERVERS]")
      ->envname("CUSTODIAN_SERVERS")
      ->type_name("LIST")
      ->group(group);
  app.add_option("--namespace", options.name_space, "put before every path")
      ->type_name("PATH")
      ->group(group);
  add_duration_option(app, "--session-timeout", options.session_timeout,
                      "after so long without a word from us the servers free our locks (10s)")
      ->group(group);
  app.add_option_function<std::vector<std::string>>(
         "--auth",
         [&options](const std::vector<std::string>& texts) {
           try {
             for (const std::string& text : texts) options.auth.push_back(parse_credential(text));
           } catch (const UsageError& error) {
             throw CLI::ValidationError{"--auth", error.what()};
           }
         },
         "a credential, digest:user:password, and more of them by more such options; others on "
         "this machine can read it in the list of processes, which [CUSTODIAN_AUTH] avoids")
      ->allow_extra_args(false)
      ->envname(credential_variable)
      ->type_name("SCHEME:VALUE")
      ->group(group);
  add_tls_options(app, options, group);
  add_sasl_options(app, options, group);
  app.add_flag("-v,--verbose", options.verbosity, "say more: what the connection does; twice: all")
      ->group(group);
}

}  // namespace custodian::cli
