#pragma once

/// \file
/// ServerAddress is one of the servers that a connection string names. Pure; any thread.

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

/// The servers of a connection string that a Client has accepted, in its order.
[[nodiscard]] std::vector<ServerAddress> servers_of(std::string_view connection_string);

/// Whether a connection string asks for TLS: it begins with "secure://".
[[nodiscard]] bool is_secure(std::string_view connection_string);

/// The path behind the servers of a connection string; empty if there is none.
[[nodiscard]] std::string chroot_of(std::string_view connection_string);

}  // namespace custodian::cli
