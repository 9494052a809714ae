#pragma once

/// \file
/// Where the sessions of a queue come from, as far as the servers tell.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "server_answers.hpp"
#include "server_words.hpp"

namespace custodian::cli {

/// Asks every server for its connections: by "cons", or where that is not allowed by the admin
/// server. A server that cannot be reached, or does not tell, is passed over.
///
/// Threads: one. The functions block, for two seconds at most.
class SessionAddresses {
 public:
  SessionAddresses(std::string_view connection_string, std::uint16_t admin_port);

  /// What is known of these; the servers are asked if one of them is not, but not every moment: a
  /// long list of connections is work for them.
  [[nodiscard]] const Addresses& of(const std::vector<std::int64_t>& sessions);

 private:
  void ask_all();

  std::vector<ServerAddress> servers_;
  std::uint16_t admin_port_;
  Addresses known_{};
  bool asked_ = false;
  std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace custodian::cli
