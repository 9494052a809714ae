#pragma once

/// \file
/// Who stood in a queue when that was read before. A request to release a lock replaces the
/// identity of its holder, for ever if the holder does not write it back.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// One thread at a time.
class KnownIdentities {
 public:
  /// Fills in what requests have replaced, of the nodes that were there with an identity before,
  /// and remembers the others. Forgets who is not there any more.
  void complete(Inspection& seen);

 private:
  struct Known {
    std::int64_t transaction;  ///< that created the node: another one may bear its name later
    std::string identity;
  };

  std::unordered_map<std::string, Known> known_;  ///< by the path of the node
};

}  // namespace custodian::cli
