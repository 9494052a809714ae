#pragma once

/// \file
/// SessionAddresses finds the client addresses of a queue's sessions, if the servers tell them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "servers/server_answers.hpp"
#include "servers/server_words.hpp"

namespace custodian::cli {

/// Merges new answers into the known addresses. A session of `sessions` keeps its known address if
/// no answer has it, as when a server does not answer. Pure.
[[nodiscard]] Addresses brought_up_to_date(const Addresses& known, Addresses told,
                                           const std::vector<std::int64_t>& sessions);

/// Asks every server for its connections: by "cons", or by the admin server if "cons" is not
/// allowed. A server that cannot be reached, or does not answer, is skipped.
///
/// Threads: one. The functions block, for two seconds at most.
class SessionAddresses {
 public:
  /// `admin_port` is the port that the user has given: see admin_port_for().
  SessionAddresses(std::string_view connection_string, std::optional<std::uint16_t> admin_port,
                   std::optional<TlsOptions> tls);

  using Clock = std::chrono::steady_clock;

  /// Returns the known addresses of these sessions. Asks the servers first if an address is
  /// unknown, but not too often: a long list of connections is work for them.
  [[nodiscard]] const Addresses& of(const std::vector<std::int64_t>& sessions);

  /// The time at which of() asks the servers about these sessions again; nothing if all addresses
  /// are known. For a session that is newer than the last question the time is soon. Each question
  /// that leaves a session without an address makes the next one for that session later.
  [[nodiscard]] std::optional<Clock::time_point> next_question(
      const std::vector<std::int64_t>& sessions) const;

 private:
  [[nodiscard]] std::set<std::int64_t> unknown_among(
      const std::vector<std::int64_t>& sessions) const;
  [[nodiscard]] Clock::duration pause_before(const std::set<std::int64_t>& unknown) const;
  [[nodiscard]] Addresses ask_all() const;

  std::vector<ServerAddress> servers_;
  std::uint16_t admin_port_;
  std::optional<TlsOptions> tls_;
  Addresses known_{};
  /// Sessions that the servers were asked about, and that have no address in their answers.
  std::set<std::int64_t> untold_{};
  std::optional<Clock::time_point> asked_at_{};
  Clock::duration pause_{};
};

}  // namespace custodian::cli
