#pragma once

/// \file
/// Address is a server's address, and the names that led to it.

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

namespace custodian::detail {

struct Address {
  boost::asio::ip::tcp::endpoint endpoint;
  /// The hosts of the connection string that have this address, as they are written there, and in
  /// their order.
  std::vector<std::string> names{};

  friend bool operator==(const Address&, const Address&) = default;
};

/// Each address once, with all of its names; sorted, so that an unchanged answer compares equal.
[[nodiscard]] std::vector<Address> merged(const std::vector<Address>& addresses);

/// What was found, and what was known of the names that do not resolve just now. All lists of
/// addresses are merged() ones.
[[nodiscard]] std::vector<Address> with_unresolved(std::vector<Address> found,
                                                   const std::vector<Address>& known,
                                                   const std::vector<std::string>& unresolved);

/// "10.0.0.1:2181" or "[::1]:2181".
[[nodiscard]] std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace custodian::detail
