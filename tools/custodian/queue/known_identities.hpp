#pragma once

/// \file
/// KnownIdentities remembers the identities in a queue from earlier readings. A request to release
/// a lock overwrites its holder's identity, for good if the holder does not write it back.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// Threads: one at a time.
class KnownIdentities {
 public:
  /// Restores known identities that requests have overwritten, and remembers the others. Forgets
  /// nodes that are gone.
  void complete(Inspection& seen);

 private:
  struct Known {
    /// The transaction that created the node, since a later node may have the same name.
    std::int64_t transaction;
    std::string identity;
  };

  std::unordered_map<std::string, Known> known_;  ///< by the path of the node
};

}  // namespace custodian::cli
