#pragma once

/// \file
/// Server answers are parsed here: answers to four-letter words, and answers of the admin server.
/// Pure: text in, values out; text that cannot be parsed gives an empty value.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::cli {

/// The outcome of a question to a server.
struct Answer {
  enum class Kind {
    not_asked,
    text,
    not_allowed,  ///< the word is not in the server's 4lw.commands.whitelist
    unreachable,  ///< there was no connection; `text` says why
    silent,       ///< the server accepted the connection and did not answer
  };
  Kind kind = Kind::not_asked;
  std::string text{};
  /// The time at which the server's certificate ends; nothing without TLS.
  std::optional<std::chrono::system_clock::time_point> certificate_ends{};

  [[nodiscard]] explicit operator bool() const noexcept { return kind == Kind::text; }
};

/// Returns the body of an HTTP answer; `silent` if the status is not a success.
[[nodiscard]] Answer body_of_http(std::string_view answer);

/// The answer to "srvr".
struct ServerReport {
  std::string version{};  ///< "3.8.0"
  std::string mode{};     ///< "leader", "follower", "observer", "standalone"
};
[[nodiscard]] std::optional<ServerReport> parse_srvr(std::string_view answer);

/// Returns whether the server says that it has no quorum.
[[nodiscard]] bool is_not_serving(std::string_view srvr_answer);

/// The answer to "conf", or to the admin server's "configuration".
struct ServerConfiguration {
  std::optional<std::chrono::milliseconds> tick_time{};
  std::optional<std::chrono::milliseconds> min_session_timeout{};
  std::optional<std::chrono::milliseconds> max_session_timeout{};
};
[[nodiscard]] ServerConfiguration parse_conf(std::string_view answer);
[[nodiscard]] ServerConfiguration parse_configuration(std::string_view json);

/// The client addresses of sessions, by session id.
using Addresses = std::map<std::int64_t, std::string>;
/// Parses the answer to "cons".
[[nodiscard]] Addresses parse_cons(std::string_view answer);
/// Parses the admin server's answer to "connections".
[[nodiscard]] Addresses parse_connections(std::string_view json);

}  // namespace custodian::cli
