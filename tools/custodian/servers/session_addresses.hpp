#pragma once

/// \file
/// SessionAddresses finds where the sessions of a queue come from, as far as the servers say.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "servers/server_answers.hpp"
#include "servers/server_words.hpp"

namespace custodian::cli {

/// The addresses known after these answers: an address that is missing now, since a server does not
/// answer, is kept for the sessions asked for. Pure.
[[nodiscard]] Addresses brought_up_to_date(const Addresses& known, Addresses told,
                                           const std::vector<std::int64_t>& sessions);

/// Asks every server for its connections: by "cons", or where that is not allowed by the admin
/// server. A server that cannot be reached, or does not say, is passed over.
///
/// Threads: one. The functions block, for two seconds at most.
class SessionAddresses {
 public:
  SessionAddresses(std::string_view connection_string, std::uint16_t admin_port);

  using Clock = std::chrono::steady_clock;

  /// The known addresses of these sessions. The servers are asked if one is unknown, but not every
  /// moment: a long list of connections is work for them.
  [[nodiscard]] const Addresses& of(const std::vector<std::int64_t>& sessions);

  /// When of() asks for these next; nothing if all are known. That is soon for a session that has
  /// come since the servers were asked; it is ever later for one of which they say nothing.
  [[nodiscard]] std::optional<Clock::time_point> next_question(
      const std::vector<std::int64_t>& sessions) const;

 private:
  [[nodiscard]] std::set<std::int64_t> unknown_among(
      const std::vector<std::int64_t>& sessions) const;
  [[nodiscard]] Clock::duration pause_before(const std::set<std::int64_t>& unknown) const;
  [[nodiscard]] Addresses ask_all() const;

  std::vector<ServerAddress> servers_;
  std::uint16_t admin_port_;
  Addresses known_{};
  /// The sessions that were asked for, and of which the servers said nothing.
  std::set<std::int64_t> untold_{};
  std::optional<Clock::time_point> asked_at_{};
  Clock::duration pause_{};
};

}  // namespace custodian::cli
