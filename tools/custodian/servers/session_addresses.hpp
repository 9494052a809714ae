#pragma once

/// \file
/// Where the sessions of a queue come from, as far as the servers tell.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "servers/server_answers.hpp"
#include "servers/server_words.hpp"

namespace custodian::cli {

/// What is known of the sessions, when the servers have told this: what they do not tell any more,
/// since one of them does not answer, is kept for those asked for. Pure.
[[nodiscard]] Addresses brought_up_to_date(const Addresses& known, Addresses told,
                                           const std::vector<std::int64_t>& sessions);

/// Asks every server for its connections: by "cons", or where that is not allowed by the admin
/// server. A server that cannot be reached, or does not tell, is passed over.
///
/// Threads: one. The functions block, for two seconds at most.
class SessionAddresses {
 public:
  SessionAddresses(std::string_view connection_string, std::uint16_t admin_port);

  using Clock = std::chrono::steady_clock;

  /// What is known of these; the servers are asked if one of them is not, but not every moment: a
  /// long list of connections is work for them.
  [[nodiscard]] const Addresses& of(const std::vector<std::int64_t>& sessions);

  /// From when on of() asks for these; nothing if all are known. Who has come since the servers
  /// were asked has not long to wait; for whom they do not tell they are asked ever more seldom.
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
  /// What of those that were asked for the servers did not tell.
  std::set<std::int64_t> untold_{};
  std::optional<Clock::time_point> asked_at_{};
  Clock::duration pause_{};
};

}  // namespace custodian::cli
