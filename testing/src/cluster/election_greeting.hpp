#pragma once

#include <string>
#include <string_view>

namespace custodian::testing {

/// ElectionGreeting replaces the address in the greeting with which a ZooKeeper server opens a
/// connection for an election.
///
/// Of two servers the one with the larger number keeps the connections that it has opened. Greeted
/// by the other, it closes that connection and opens one to the address in the greeting, which is
/// the greeter's own (QuorumCnxManager.handleConnection, 3.5 and later) and would go round any
/// proxy.
class ElectionGreeting {
 public:
  /// "host:port"
  explicit ElectionGreeting(std::string address);

  /// The bytes to forward for those that come next. Bytes that are no greeting pass unchanged.
  [[nodiscard]] std::string edit(std::string_view bytes);

 private:
  std::string address_;
  std::string begun_;
  bool done_ = false;
};

}  // namespace custodian::testing
