#pragma once

/// \file
/// list_locks() finds all locks, semaphores and elections below a path that somebody holds or waits
/// for, of this library, of Apache Curator and of kazoo.
///
///     for (const ListedLock& each : list_locks(client, "/").locks) ...
///
/// list_locks() walks the tree, and recognises queues by the names of their nodes, as inspect()
/// does. A lock without contenders has no nodes that show its kind, and is not found.
/// find_wait_cycles() finds waits that cannot end among the locks that were found.
///
/// When not to use it: to decide whether a lock is held, since the answer may be out of date when
/// it arrives: the queues are read one after the other, while their contenders come and go. The
/// walk reads every node below the path once, so a path with fewer nodes costs less.
///
/// Threads: any.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/inspect/inspect.hpp"

namespace custodian {

/// What the contenders of a path compete for.
enum class ListedKind : std::uint8_t {
  mutex,       ///< an exclusive lock, or the turn of a LeaderSelector, whose nodes look alike
  read_write,  ///< a read/write lock
  election,    ///< the leadership of a LeaderLatch
  semaphore,   ///< permits of a semaphore
};

/// The kind in one word: "mutex", "read/write", "election", "semaphore".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(ListedKind kind) noexcept;

/// A lock, a semaphore or an election that has contenders, of which a server has numbered at least
/// one: a folder called "lock-7" or "block-store" is no contender of the folder around it.
struct ListedLock {
  std::string path{};                   ///< the path, as it was passed to the recipe's object
  ListedKind kind = ListedKind::mutex;  ///< what its contenders compete for
  /// The contenders in order, as inspect() returns them. Empty only if `malformed` is not.
  std::vector<Inspected> contenders{};
  /// Paths of nodes whose number cannot be read. Each of them stops all acquires in its queue.
  std::vector<std::string> malformed{};
};

/// What is below a path.
struct LockListing {
  /// The locks, in the order of their paths.
  std::vector<ListedLock> locks{};
  /// The paths whose children, or whose contenders, the servers do not let this client read.
  std::vector<std::string> forbidden{};
  std::size_t nodes = 0;  ///< how many nodes were listed
  /// Whether the whole tree was walked. If `ListOptions::max_nodes` has ended the walk, there may
  /// be more locks.
  bool is_complete = true;
};

/// The options of a listing.
struct ListOptions {
  /// How many nodes are listed, or locks inspected, at once. At least 1.
  std::size_t parallelism = 64;
  /// How many nodes are listed at most, so that a tree that is larger than expected does not keep
  /// the servers busy. At least 1.
  std::size_t max_nodes = 1'000'000;
  /// The deadline and the retries, for all requests of the listing together.
  OperationOptions operation{};
};

namespace recipes_detail {
CUSTODIAN_EXPORT void check_list(const Client& client, std::string_view path,
                                 const ListOptions& options);
CUSTODIAN_EXPORT void start_list_locks(CorePtr core, CancellationPtr cancellation, Client client,
                                       std::string path, ListOptions options,
                                       Handler<LockListing> handler);
}  // namespace recipes_detail

/// Finds the locks at the path and below it. A node that disappears meanwhile is passed over.
/// Completes with: error, the listing. Cancellation: total. Errors: invalid_argument (thrown at
/// once), deadline_exceeded, operation_aborted, and those common to all operations; nodes that this
/// client may not read are no error: see `LockListing::forbidden`. Executor: the handler's, or the
/// client's callback executor. Threads: any.
template <typename Token>
auto async_list_locks(const Client& client, std::string path, ListOptions options, Token&& token) {
  recipes_detail::check_list(client, path, options);
  return initiate<void(error_code, LockListing), &recipes_detail::start_list_locks>(
      client.core(), std::forward<Token>(token), client.share(), std::move(path), options);
}
/// The blocking form of async_list_locks(). Throws Error; `stop` ends it with operation_aborted.
[[nodiscard]] CUSTODIAN_EXPORT LockListing list_locks(const Client& client, const std::string& path,
                                                      ListOptions options = {},
                                                      std::stop_token stop = {});

}  // namespace custodian
