#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {

/// ServerStanding is a server's answer to "srvr".
struct ServerStanding {
  enum class Role { none, leads, follows };

  bool known = false;      ///< whether the server has answered
  Role role = Role::none;  ///< the role, if it serves
  std::uint64_t epoch = 0;

  friend bool operator==(const ServerStanding&, const ServerStanding&) = default;
};

[[nodiscard]] ServerStanding parse_standing(std::string_view answer);

/// Asks a server for its standing. `known` is false if there is no answer in time.
[[nodiscard]] ServerStanding ask_for_standing(const ServerEndpoint& endpoint,
                                              std::chrono::milliseconds patience);

}  // namespace custodian::testing
