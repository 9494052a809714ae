#pragma once

/// \file
/// Server words are questions to a single server: four-letter words, and the HTTP of its admin
/// server. Each server knows only its own connections, so a list of all connections needs a
/// question to every server.
///
/// Threads: any; the functions block, until the deadline at the latest.

#include <cstdint>
#include <optional>
#include <string_view>

#include "custodian/deadline.hpp"
#include "custodian/tls_options.hpp"
#include "servers/server_address.hpp"
#include "servers/server_answers.hpp"

namespace custodian::cli {

/// Asks "srvr", "cons" or another four-letter word, and returns the server's answer. With TLS
/// options it asks over TLS, and verifies the server.
[[nodiscard]] Answer four_letter_word(const ServerAddress& server, std::string_view word,
                                      Deadline deadline,
                                      const std::optional<TlsOptions>& tls = std::nullopt);

/// The port of a server's admin server; 0 if it must not be asked. It is the port that the user has
/// given, or 8080. The admin server is asked in plain HTTP, so with TLS it is asked only at a port
/// that the user has given. Pure.
[[nodiscard]] std::uint16_t admin_port_for(std::optional<std::uint16_t> said,
                                           const std::optional<TlsOptions>& tls) noexcept;

/// Asks GET `http://<host>:<port>/commands/<command>`, and returns the body of a successful answer.
[[nodiscard]] Answer admin_command(const ServerAddress& admin_server, std::string_view command,
                                   Deadline deadline);

}  // namespace custodian::cli
