#pragma once

/// \file
/// inspect() shows the contenders at a path: every recipe's queue, recognised by the names of its
/// nodes, for people who look.
///
///     for (const Inspected& each : inspect(client, "/locks/printer").contenders) ...
///
/// It distinguishes locks, semaphores and elections of this library, of Apache Curator and of
/// kazoo, so the kind at the path need not be known. It cannot distinguish a mutex from a
/// LeaderSelector or from kazoo's Lock, which look alike; and it cannot find the maximum of a
/// semaphore, which no node has.
///
/// When not to use it: to decide anything. What is seen is the past by the time that it arrives.
/// A lock's own `participants()` costs less where the kind of the lock is known.
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
  /// An exclusive lock: a mutex, the turn of a LeaderSelector; kazoo's WriteLock, too, as long as
  /// none of its readers is there.
  mutex,
  /// The write lock of a read/write lock.
  write,
  /// The read lock of one.
  read,
  leadership,  ///< of a LeaderLatch
  permit,      ///< of a semaphore
  turn,        ///< to take permits of a semaphore
};

/// Whether a contender has what it wants.
enum class Standing : std::uint8_t {
  /// It has it.
  holds,
  /// It does not have it yet.
  waits,
  /// It may hold or wait. Of the first in a queue: a child whose number cannot be read stops the
  /// queue (`Inspection::malformed`), or the numbers are used up. Of a permit: its owner is just
  /// taking permits, and `InspectOptions::permits` does not say how many there are.
  unclear,
};

/// A contender in a queue.
struct Inspected {
  /// Its identity, since when it is there, and its node.
  Participant participant;
  /// What it wants.
  Claim claim = Claim::mutex;
  /// Whether it holds that.
  Standing standing = Standing::holds;
  /// How many must leave before it holds.
  std::size_t ahead = 0;
  /// The profile of its node's name.
  NamingProfile profile = NamingProfile::curator;
  /// It was asked to release: its node was written to, as `revoke()` does. It may still hold. Where
  /// the request has replaced the identity, and its holder does not write it back (see revoke.hpp),
  /// `participant.identity` is empty.
  bool is_asked_to_let_go = false;
};

/// The queues at a path.
struct Inspection {
  /// Each queue in its order, one after the other where a path has several: the permits of a
  /// semaphore, then the waiters for some. Empty if the path does not exist.
  std::vector<Inspected> contenders{};
  /// Paths of nodes that stop all acquires in their queue, since their number cannot be read:
  /// remove them.
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
/// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
[[nodiscard]] CUSTODIAN_EXPORT Inspection inspect(const Client& client, const std::string& path,
                                                  InspectOptions options = {},
                                                  std::stop_token stop = {});

}  // namespace custodian
