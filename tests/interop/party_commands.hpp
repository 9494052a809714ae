#pragma once

/// \file
/// The commands of our driver for double barriers; driver.hpp says what they do.

#include <istream>
#include <map>
#include <string>

#include "custodian/barriers/distributed_double_barrier.hpp"

namespace custodian::tests {

/// The double barriers of a session. Threads: one.
class PartyCommands {
 public:
  void obey(const Client& client, const std::string& what, std::istream& words);

 private:
  std::map<std::string, DistributedDoubleBarrier> barriers_;
};

}  // namespace custodian::tests
