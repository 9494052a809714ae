#pragma once

/// \file
/// The options and the results of updates of a distributed atomic. Value types.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "custodian/export.hpp"
#include "custodian/retry_policy.hpp"
#include "custodian/shared/versioned.hpp"

namespace custodian {

/// What an update does when the reply to its write is lost. The servers may have applied that
/// write.
enum class Settle : std::uint8_t {
  /// The update ends with outcome_unknown (connection_loss), and its caller decides what to do.
  /// From a client's third update on, an update needs no read if no other client has written in
  /// between: a watch on the node's children reports when the node is deleted.
  left_to_caller,
  /// The update finds out whether the write was applied. Each write sets a second node in the same
  /// transaction, the *witness*: an ephemeral child `_c_<uuid>-witness` of the value's node, one
  /// for each client and value. After a lost reply the same transaction is sent again. If the
  /// servers refuse it, the witness shows whether the reason is that the first one was applied.
  ///
  /// So a write counts once, or not at all, and its caller learns which. The outcome remains
  /// unknown, and the error says so, in two cases only: the caller has given up while the write was
  /// under way (its deadline, a cancellation, the end of the client); or the witness is gone (its
  /// session was lost, or an operator has deleted it), and the value has been written since, by
  /// this update or another.
  ///
  /// What it costs: one request for the first update in each session, and one operation more in
  /// each transaction. From the second update on, an update needs no read if no other client has
  /// written in between, since the witness proves that the node is still the same. Clients need the
  /// permission to create and to delete children of the value's node. While clients use that node,
  /// removing it takes `Descendants::are_removed`.
  exactly_once,
};

/// After some refused tries an update acquires a lock, so that it wins against the other clients
/// that do the same.
struct PromotedToLock {
  /// The path of an InterProcessMutex, which has no other use, not at or below the value's path.
  /// Clients that are to wait for each other name the same path.
  std::string path;
  /// How many tries are refused before the update acquires the lock; 0: it begins with the lock.
  int after_tries = 5;
};

/// How a distributed atomic updates its value.
struct UpdateOptions {
  /// The first pauses are in the order of a round trip; the longest is shorter than the patience
  /// of most callers. Only the deadline limits the number of tries.
  [[nodiscard]] static RetryPolicy default_contention() {
    return RetryPolicy::exponential_backoff(std::chrono::milliseconds{5},
                                            std::chrono::milliseconds{250}, std::nullopt);
  }

  /// How often, and after which pauses, an update tries again when another client was quicker.
  /// (`OperationOptions::retry` is for requests that could not be sent.)
  RetryPolicy contention = default_contention();
  /// What an update does about a lost reply.
  Settle settle = Settle::left_to_caller;
  /// If set: when an update acquires a lock.
  std::optional<PromotedToLock> promoted{};
};

/// What an update has done: Apache Curator's AtomicValue, with its stats. Where updates have shared
/// a write, only the value before the first and the one after the last were on the servers; the
/// values in between have the version 0 and the mzxid 0, and match no compare_exchange().
template <typename T>
struct Updated {
  /// The value that the update found: what std::atomic's functions return.
  Versioned<T> before{};
  /// The value that the update left. The same as `before` if the update has not written.
  Versioned<T> after{};
  /// Whether the update has written: a fetch_max() of a lesser value does not, for instance.
  bool written = false;
  /// How many transactions of the update the servers have decided, the successful one included.
  int tries = 0;
  /// Whether the update has acquired the lock of PromotedToLock.
  bool promoted = false;

  /// Equal if all members are equal.
  friend bool operator==(const Updated&, const Updated&) = default;
};

}  // namespace custodian
