#pragma once

/// \file
/// Address is a server's address, and the names that led to it.

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

namespace custodian::detail {

struct Address {
  boost::asio::ip::tcp::endpoint endpoint;
  /// The hosts of the connection string that have this address, as they are written there.
  std::vector<std::string> names{};

  friend bool operator==(const Address&, const Address&) = default;
};

/// "10.0.0.1:2181" or "[::1]:2181".
[[nodiscard]] std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace custodian::detail
