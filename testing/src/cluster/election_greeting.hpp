#pragma once

#include <string>
#include <string_view>

namespace custodian::testing {

/// ElectionGreeting replaces the address in the greeting with which a ZooKeeper server opens a
/// connection for an election.
///
/// Between two servers, only connections that the server with the larger number has opened are
/// kept. When the other server greets it, the server with the larger number closes that connection,
/// and opens one to the address in the greeting. The address in the greeting is the greeter's own
/// (QuorumCnxManager.handleConnection, 3.5 and later), and would bypass any proxy.
class ElectionGreeting {
 public:
  /// `address` is "host:port".
  explicit ElectionGreeting(std::string address);

  /// Takes the next bytes of the stream, and returns the bytes to forward instead. Only a greeting
  /// is changed; a stream that does not begin with one passes as it is.
  [[nodiscard]] std::string edit(std::string_view bytes);

 private:
  std::string address_;
  std::string begun_;
  bool done_ = false;
};

}  // namespace custodian::testing
