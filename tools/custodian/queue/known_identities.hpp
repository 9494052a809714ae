#pragma once

/// \file
/// KnownIdentities remembers the identities of a queue that was read before. A request to release a
/// lock replaces the identity of its holder, for ever if the holder does not write it back.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// One thread at a time.
class KnownIdentities {
 public:
  /// Fills in the identities that requests have replaced, if they were known before, and remembers
  /// the others. Forgets nodes that are gone.
  void complete(Inspection& seen);

 private:
  struct Known {
    std::int64_t transaction;  ///< that created the node: another node may bear its name later
    std::string identity;
  };

  std::unordered_map<std::string, Known> known_;  ///< by the path of the node
};

}  // namespace custodian::cli
