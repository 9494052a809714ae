#pragma once

/// \file
/// inspect() shows people the contenders at a path: every recipe's queue, recognised by the names
/// of its nodes.
///
///     for (const Inspected& each : inspect(client, "/locks/printer").contenders) ...
///
/// It distinguishes locks, semaphores and elections of this library, of Apache Curator and of
/// kazoo, so the kind at the path need not be known. It cannot distinguish a mutex from a
/// LeaderSelector or from kazoo's Lock, which look alike; and it cannot find the maximum of a
/// semaphore, which no node stores.
///
/// When not to use it: to decide anything. The answer may be out of date when it arrives. A lock's
/// own `participants()` costs less where the kind of the lock is known.
///
/// Threads: any.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/naming_profile.hpp"

namespace custodian {

/// What a contender wants.
enum class Claim : std::uint8_t {
  /// An exclusive lock: a mutex, or the turn of a LeaderSelector. kazoo's WriteLock counts as one,
  /// too, while it has no readers in the queue.
  mutex,
  /// The write lock of a read/write lock.
  write,
  /// The read lock of a read/write lock.
  read,
  leadership,  ///< of a LeaderLatch
  permit,      ///< of a semaphore
  turn,        ///< the next turn to take permits of a semaphore
};

/// Whether a contender has what it wants.
enum class Standing : std::uint8_t {
  /// The contender has what it wants.
  holds,
  /// The contender does not have it yet.
  waits,
  /// The contender may hold or wait. For the first in a queue: a child with an unreadable number
  /// stops the queue (`Inspection::malformed`), or the sequence numbers are used up. For a permit:
  /// its owner is still taking permits, and `InspectOptions::permits` does not say how many there
  /// are.
  unclear,
};

/// A contender in a queue.
struct Inspected {
  /// Its identity, its node, and since when it has been in the queue.
  Participant participant;
  /// What it wants.
  Claim claim = Claim::mutex;
  /// Whether it holds that.
  Standing standing = Standing::holds;
  /// How many contenders must leave before it holds.
  std::size_t ahead = 0;
  /// The profile of its node's name.
  NamingProfile profile = NamingProfile::curator;
  /// Another client asked it to release: its node was written to, as by `revoke()`. It may still
  /// hold. If the request has replaced the identity, and the holder has not restored it (see
  /// revoke.hpp), `participant.identity` is empty.
  bool is_asked_to_let_go = false;
};

/// The queues at a path.
struct Inspection {
  /// The contenders of each queue, in order. Where a path has several queues they follow each
  /// other: the permits of a semaphore, then the waiters for permits. Empty if the path does not
  /// exist.
  std::vector<Inspected> contenders{};
  /// Paths of nodes whose number cannot be read. Each of them stops all acquires in its queue:
  /// remove it.
  std::vector<std::string> malformed{};
  /// Paths of children that take no part in any queue.
  std::vector<std::string> foreign{};
};

/// The options of an inspection.
struct InspectOptions {
  /// How many permits the semaphore has, if known; 0: unknown.
  std::size_t permits = 0;
  /// Deadline and retries, for all requests together.
  OperationOptions operation{};
};

namespace recipes_detail {
CUSTODIAN_EXPORT void start_inspect(CorePtr core, CancellationPtr cancellation, Client client,
                                    std::string path, InspectOptions options,
                                    Handler<Inspection> handler);
}  // namespace recipes_detail

/// The contenders at the path. A path that does not exist gives an empty answer.
/// Completes with: error, the inspection.
/// Cancellation: total.
/// Errors: invalid_argument (thrown at once), no_auth, deadline_exceeded, operation_aborted, and
/// those common to all operations.
/// Executor: the handler's, or the client's callback executor.
/// Threads: any.
template <typename Token>
auto async_inspect(const Client& client, std::string path, InspectOptions options, Token&& token) {
  check_path(client.core(), "async_inspect", path);
  return initiate<void(error_code, Inspection), &recipes_detail::start_inspect>(
      client.core(), std::forward<Token>(token), client.share(), std::move(path), options);
}
/// The blocking form of async_inspect(). Throws Error; `stop` ends it with operation_aborted.
[[nodiscard]] CUSTODIAN_EXPORT Inspection inspect(const Client& client, const std::string& path,
                                                  InspectOptions options = {},
                                                  std::stop_token stop = {});

}  // namespace custodian
