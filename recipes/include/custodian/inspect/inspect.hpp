#pragma once

/// \file
/// inspect() shows people the contenders at a path, or what else the path is. It recognises every
/// recipe by the names of the nodes.
///
///     for (const Inspected& each : inspect(client, "/locks/printer").contenders) ...
///
/// inspect() distinguishes locks, semaphores and elections of this library, of Apache Curator and
/// of kazoo, so the caller need not know which recipe uses the path. Where there is no queue, it
/// recognises barriers, latches, conditions, rate limiters and values: see inspected_recipe.hpp. It
/// cannot distinguish a mutex from a LeaderSelector or from kazoo's Lock, whose nodes look alike;
/// and it cannot find the maximum of a semaphore, which no node of the semaphore stores.
///
/// When not to use it: to decide whether a lock is held, since the answer may be out of date when
/// it arrives; or where the kind of the lock is known, since the lock's own `participants()` costs
/// less.
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
#include "custodian/inspect/inspected_recipe.hpp"
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
  leadership,  ///< the leadership of a LeaderLatch
  permit,      ///< a permit of a semaphore
  turn,        ///< the next turn to take permits of a semaphore
};

/// Whether a contender has what it wants.
enum class Standing : std::uint8_t {
  /// The contender has what it wants.
  holds,
  /// The contender waits for what it wants.
  waits,
  /// It is unclear whether the contender holds or waits. The first contender of a queue is unclear
  /// if a child with an unreadable number stops the queue (`Inspection::malformed`), or if the
  /// sequence numbers are used up. A permit is unclear if its owner is still taking permits, and
  /// `InspectOptions::permits` does not say how many there are.
  unclear,
};

/// A contender in a queue.
struct Inspected {
  /// The contender's identity, its node, and since when it has been in the queue.
  Participant participant;
  /// What the contender wants.
  Claim claim = Claim::mutex;
  /// Whether the contender has what it wants.
  Standing standing = Standing::holds;
  /// How many contenders must leave before this one has what it wants.
  std::size_t ahead = 0;
  /// The naming profile of the contender's node.
  NamingProfile profile = NamingProfile::curator;
  /// Whether another client has asked the contender to release: its node was written to, as by
  /// `revoke()`. The contender may still hold. If the request has replaced the identity, and the
  /// holder has not restored it (see revoke.hpp), `participant.identity` is empty.
  bool is_asked_to_release = false;
};

/// What is at a path.
struct Inspection {
  /// The contenders of each queue, in order. If a path has several queues, the list has one queue
  /// after the other: the permits of a semaphore, then the waiters for permits. Empty if the path
  /// does not exist.
  std::vector<Inspected> contenders{};
  /// Paths of nodes whose number cannot be read. Each of them stops all acquires in its queue:
  /// remove it.
  std::vector<std::string> malformed{};
  /// Paths of children that take no part in any queue, and in no other recipe either.
  std::vector<std::string> foreign{};
  /// What the path is if there is no queue.
  InspectedRecipe recipe{};
};

/// The options of an inspection.
struct InspectOptions {
  /// How many permits the semaphore has; 0 if that is not known.
  std::size_t permits = 0;
  /// The deadline and the retries, for all requests of the inspection together.
  OperationOptions operation{};
};

namespace recipes_detail {
CUSTODIAN_EXPORT void start_inspect(CorePtr core, CancellationPtr cancellation, Client client,
                                    std::string path, InspectOptions options,
                                    Handler<Inspection> handler);
}  // namespace recipes_detail

/// Finds the contenders at the path, or the recipe. For a path that does not exist the inspection
/// is empty. Completes with: error, the inspection. Cancellation: total. Errors: invalid_argument
/// (thrown at once), no_auth, deadline_exceeded, operation_aborted, and those common to all
/// operations. Executor: the handler's, or the client's callback executor. Threads: any.
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
