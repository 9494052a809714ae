#pragma once

/// \file
/// ServerAddress is one of the servers that a connection string names. Pure. Threads: any.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::cli {

struct ServerAddress {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// "host:port", with brackets around an IPv6 address.
[[nodiscard]] std::string to_string(const ServerAddress& server);

/// The servers of a connection string, in its order. A Client must have accepted the string.
[[nodiscard]] std::vector<ServerAddress> servers_of(std::string_view connection_string);

/// Returns whether a connection string asks for TLS: it then begins with "secure://".
[[nodiscard]] bool is_secure(std::string_view connection_string);

/// The path at the end of a connection string; empty if there is none.
[[nodiscard]] std::string chroot_of(std::string_view connection_string);

}  // namespace custodian::cli
