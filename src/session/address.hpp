#pragma once

/// \file
/// Address is a server's address, and the host names that resolve to it.

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

/// Returns each address once, with all of its names, in ascending order: so the addresses of two
/// equal look-ups compare equal.
[[nodiscard]] std::vector<Address> merged(const std::vector<Address>& addresses);

/// Adds to `found` the `known` addresses of the names that do not resolve just now. All lists of
/// addresses are results of merged().
[[nodiscard]] std::vector<Address> with_unresolved(std::vector<Address> found,
                                                   const std::vector<Address>& known,
                                                   const std::vector<std::string>& unresolved);

/// "10.0.0.1:2181" or "[::1]:2181".
[[nodiscard]] std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace custodian::detail
