#include "options/global_options.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "options/duration_option.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"

namespace custodian::cli {
namespace {

constexpr const char* credential_variable = "CUSTODIAN_AUTH";

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
  options.log = client_log(verbosity);
  return options;
}

void forget_credentials() {
  const std::string prefix = std::string{credential_variable} + "=";
  // The bytes are overwritten, too: a child of fork() has a copy of them.
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
                 "ZooKeeper servers, host:port,host:port/chroot [CUSTODIAN_SERVERS]")
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
  app.add_flag("-v,--verbose", options.verbosity, "say more: what the connection does; twice: all")
      ->group(group);
}

}  // namespace custodian::cli
