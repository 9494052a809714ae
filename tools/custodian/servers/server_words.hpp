#pragma once

/// \file
/// Server words are questions to a single server: four-letter words, and the HTTP of its admin
/// server. Each server knows only its own connections, so a list of all takes a question to every
/// server.
///
/// Threads: any; the functions block, until the deadline at the latest.

#include <optional>
#include <string_view>

#include "custodian/deadline.hpp"
#include "custodian/tls_options.hpp"
#include "servers/server_address.hpp"
#include "servers/server_answers.hpp"

namespace custodian::cli {

/// The server's answer to "srvr", "cons" or another four-letter word; over TLS, with the server
/// verified, if there are options for that.
[[nodiscard]] Answer four_letter_word(const ServerAddress& server, std::string_view word,
                                      Deadline deadline,
                                      const std::optional<TlsOptions>& tls = std::nullopt);

/// The body of a successful answer to GET `http://<host>:<port>/commands/<command>`.
[[nodiscard]] Answer admin_command(const ServerAddress& admin_server, std::string_view command,
                                   Deadline deadline);

}  // namespace custodian::cli
