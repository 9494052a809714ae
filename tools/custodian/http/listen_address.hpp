#pragma once

/// \file
/// ListenAddress is where a server of ours listens: "127.0.0.1:8180". Pure.

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>

namespace custodian::cli {

struct ListenAddress {
  boost::asio::ip::address address{};
  std::uint16_t port = 0;  ///< 0: a free one

  /// Whether only processes of this machine can connect.
  [[nodiscard]] bool is_loopback() const { return address.is_loopback(); }
};

/// Parses "127.0.0.1:8180", "[::1]:8180" or "localhost:8180" (127.0.0.1). Other names are refused:
/// they could resolve to any address. Throws UsageError.
[[nodiscard]] ListenAddress parse_listen_address(const std::string& text);

/// "http://127.0.0.1:8180/"
[[nodiscard]] std::string url_of(const ListenAddress& where);

}  // namespace custodian::cli
