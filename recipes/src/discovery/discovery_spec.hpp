#pragma once

/// \file
/// DiscoverySpec is what the functions of a ServiceDiscovery work with.

#include <string>

#include "custodian/client.hpp"
#include "custodian/discovery/discovery_options.hpp"

namespace custodian::discovery_detail {

struct DiscoverySpec {
  Client client;
  std::string base;
  DiscoveryOptions options{};
};

}  // namespace custodian::discovery_detail
