#pragma once

/// \file
/// FencingToken is a number that distinguishes an old holder of a lock from a new one.

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "custodian/export.hpp"
namespace custodian {

/// A fencing token grows strictly from one holder of an exclusive lock to the next. Hand it to the
/// resource that the lock protects, and let the resource refuse a token that is smaller than the
/// largest it has seen: then a holder that was paused, and has lost the lock without knowing, can
/// do no harm.
///
/// It is the czxid of the holder's node: the number of the transaction that created the node. That
/// number has 64 bits, and grows over the whole ensemble. So it survives the deletion of the lock's
/// path, which a sequence number does not. It does not survive the rebuilding of the ensemble from
/// nothing: raise `ClientOptions::fencing_epoch` then, which counts before the number. With
/// `HandOff::cohort` the holders of one process may share a node, and are numbered by `grant`:
/// compare all three fields, as the operators do. Tokens of shared leases (readers, semaphores) do
/// not fence.
struct FencingToken {
  /// `ClientOptions::fencing_epoch` of the client that holds the lock. Counts first.
  std::int64_t epoch = 0;
  /// The czxid of the holder's node. 0 for an empty lease, which is less than any holder's.
  std::int64_t value = 0;
  /// Numbers the holders of the same node, one after another: 0 for the first.
  std::int64_t grant = 0;

  /// The epoch first, then the value, then the grant.
  friend auto operator<=>(const FencingToken&, const FencingToken&) = default;
};

/// "value"; "epoch:value" where there is an epoch; "epoch:value:grant" where it is not the first
/// grant of its node. Integers, decimal: compare them one by one, the epoch first.
[[nodiscard]] CUSTODIAN_EXPORT std::string to_string(FencingToken token);
/// Writes to_string(token).
CUSTODIAN_EXPORT std::ostream& operator<<(std::ostream& out, FencingToken token);

}  // namespace custodian
