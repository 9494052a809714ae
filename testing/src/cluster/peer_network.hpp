#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "server/reserved_port.hpp"

namespace custodian::testing {

/// PeerNetwork has the ports on which the members of an ensemble listen for each other, and, on
/// request, the proxies between each two members.
class PeerNetwork {
 public:
  PeerNetwork(std::size_t size, const std::string& address, PeerLinks links);

  /// The lines "server.<number>=..." of zoo.cfg as one member sees the ensemble.
  [[nodiscard]] std::vector<std::string> server_lines(std::size_t member) const;

  /// Holds back the bytes that one member sends to another, on connections that either of them has
  /// opened. Throws `TestingError` without proxies.
  void cut(std::size_t from, std::size_t to);
  void heal();

 private:
  struct Ports {
    explicit Ports(const std::string& address) : quorum{address}, election{address} {}
    ReservedPort quorum;
    ReservedPort election;
  };
  // The proxies from one member to another.
  struct Link {
    std::unique_ptr<FaultProxy> quorum;
    std::unique_ptr<FaultProxy> election;
  };

  void make_links();
  [[nodiscard]] Link& link(std::size_t from, std::size_t to);

  const std::string address_;
  std::vector<std::unique_ptr<Ports>> ports_;
  std::vector<std::vector<Link>> links_;  // indexed by from, then to; empty without proxies
};

}  // namespace custodian::testing
