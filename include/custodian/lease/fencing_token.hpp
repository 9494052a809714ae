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
/// The `value` is the czxid of the holder's node: the number of the transaction that created the
/// node. That number has 64 bits, and grows over the whole ensemble. So it still grows when the
/// lock's path is deleted and created again, where a sequence number begins again. When the
/// ensemble is rebuilt from nothing, the number begins again, too: then raise
/// `ClientOptions::fencing_epoch`, which is compared before the number. With `HandOff::cohort`,
/// holders of one process may share a node, one after the other; `grant` numbers these holders. So
/// compare all three fields, as the operators do. Tokens of shared leases (readers, semaphores) do
/// not fence.
struct FencingToken {
  /// `ClientOptions::fencing_epoch` of the client that holds the lock. Compared first.
  std::int64_t epoch = 0;
  /// The czxid of the holder's node. An empty lease has 0, which is less than the value of any
  /// holder.
  std::int64_t value = 0;
  /// The number of the holder among the holders of its node: 0 for the first.
  std::int64_t grant = 0;

  /// Compares the epoch first, then the value, then the grant.
  friend auto operator<=>(const FencingToken&, const FencingToken&) = default;
};

/// The token as text: "value"; "epoch:value" if the epoch is not 0; "epoch:value:grant" if the
/// grant is not 0. The numbers are decimal integers: compare them one by one, the epoch first.
[[nodiscard]] CUSTODIAN_EXPORT std::string to_string(FencingToken token);
/// Writes to_string(token).
CUSTODIAN_EXPORT std::ostream& operator<<(std::ostream& out, FencingToken token);

}  // namespace custodian
