#pragma once

/// \file
/// Server answers are parsed here: those to four-letter words, and those of the admin server. Pure:
/// text in, values out; a text that is not understood is an empty value.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::cli {

/// What became of a question to a server.
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

/// The part of an HTTP answer behind its header; not text if it is no success.
[[nodiscard]] Answer body_of_http(std::string_view answer);

/// "srvr".
struct ServerReport {
  std::string version{};  ///< "3.8.0"
  std::string mode{};     ///< "leader", "follower", "observer", "standalone"
};
[[nodiscard]] std::optional<ServerReport> parse_srvr(std::string_view answer);

/// Whether it answers that it has no quorum.
[[nodiscard]] bool is_not_serving(std::string_view srvr_answer);

/// "conf", or the admin server's "configuration".
struct ServerConfiguration {
  std::optional<std::chrono::milliseconds> tick_time{};
  std::optional<std::chrono::milliseconds> min_session_timeout{};
  std::optional<std::chrono::milliseconds> max_session_timeout{};
};
[[nodiscard]] ServerConfiguration parse_conf(std::string_view answer);
[[nodiscard]] ServerConfiguration parse_configuration(std::string_view json);

/// The addresses of sessions' clients.
using Addresses = std::map<std::int64_t, std::string>;
/// "cons".
[[nodiscard]] Addresses parse_cons(std::string_view answer);
/// The admin server's "connections".
[[nodiscard]] Addresses parse_connections(std::string_view json);

}  // namespace custodian::cli
