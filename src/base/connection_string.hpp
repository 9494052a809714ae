#pragma once

/// \file
/// A connection string, "zk1:2181,10.0.0.2,[::1]:2182/app", is the servers of an ensemble and the
/// chroot below which a client works, in the form that all ZooKeeper clients share. "secure://" in
/// front asks for TLS.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::detail {

struct HostPort {
  /// A name, an IPv4 address or an IPv6 address, the latter without brackets and in its shortest
  /// form.
  std::string host;
  std::uint16_t port;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

struct ConnectionString {
  /// At least one server; in the order given, without duplicates.
  std::vector<HostPort> hosts;
  /// A valid path, or empty.
  std::string chroot;
  /// Whether the string begins with "secure://".
  bool secure = false;

  friend bool operator==(const ConnectionString&, const ConnectionString&) = default;
};

/// Servers are separated by commas; the port is 2181 if none is given; an IPv6 address stands in
/// brackets. Space around an element is ignored, and a server given twice is kept once. The chroot
/// follows the last server and must be a valid path; "/" means none. Unlike other paths, the chroot
/// must not contain a comma: otherwise "zk1/app,zk2/app" would name a single server with the chroot
/// "/app,zk2/app", and two processes would take a lock at two places.
///
/// Throws `Error` (`Errc::invalid_argument`, naming `operation`, the element and the rule).
[[nodiscard]] ConnectionString parse_connection_string(std::string_view operation,
                                                       std::string_view text);

/// Parses one server, written as in a connection string; nothing if it is invalid.
[[nodiscard]] std::optional<HostPort> parse_server(std::string_view text);

/// Whether both are the same host, whatever the case of its name, and the same port.
[[nodiscard]] bool same_server(const HostPort& left, const HostPort& right);

/// A valid connection string without its chroot, otherwise as it was written.
[[nodiscard]] std::string_view without_chroot(std::string_view connection_string) noexcept;

[[nodiscard]] std::string to_string(const HostPort& server);
/// The connection string with every port and IPv6 bracket written out, which parses to an equal
/// value.
[[nodiscard]] std::string to_string(const ConnectionString& connection_string);

}  // namespace custodian::detail
