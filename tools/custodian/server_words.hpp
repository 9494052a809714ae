#pragma once

/// \file
/// Questions to a single server that are no client's: four-letter words, and the HTTP of its admin
/// server. Each server knows its own connections only, so whoever wants all asks all.
///
/// Threads: any; the functions block, until the deadline at the latest.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/deadline.hpp"

namespace custodian::cli {

struct ServerAddress {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// "host:port", with brackets around an IPv6 address.
[[nodiscard]] std::string to_string(const ServerAddress& server);

/// The servers of a connection string that a Client has accepted, in its order.
[[nodiscard]] std::vector<ServerAddress> servers_of(std::string_view connection_string);

/// The path behind the servers of a connection string; empty if there is none.
[[nodiscard]] std::string chroot_of(std::string_view connection_string);

struct Answer {
  enum class Kind {
    not_asked,
    text,
    not_allowed,  ///< the word is not in the server's 4lw.commands.whitelist
    unreachable,  ///< there was no connection; `text` says why
    silent,       ///< a connection, and no answer
  };
  Kind kind = Kind::not_asked;
  std::string text{};

  [[nodiscard]] explicit operator bool() const noexcept { return kind == Kind::text; }
};

/// What a server answers to "srvr", "cons" and the like.
[[nodiscard]] Answer four_letter_word(const ServerAddress& server, std::string_view word,
                                      Deadline deadline);

/// The body of the answer to GET `http://<host>:<port>/commands/<command>`, if that is a success.
[[nodiscard]] Answer admin_command(const ServerAddress& admin_server, std::string_view command,
                                   Deadline deadline);

/// The part of an HTTP answer behind its header; pure. Not text if it is no success.
[[nodiscard]] Answer body_of_http(std::string_view answer);

}  // namespace custodian::cli
