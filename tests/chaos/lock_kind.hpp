#pragma once

/// \file
/// LockKind is the kind of a lock in a chaos run, which the lock's name shows. Pure.

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::chaos {

enum class LockKind {
  mutex,
  mutex_batch,  ///< a mutex that a process passes on among its own waiters
  mutex_kept,   ///< like `mutex_batch`, and the process keeps it when nobody wants it
  read_write,
  read_write_shared,  ///< readers of one process share a node, which the process keeps
  semaphore_mutex,
  semaphore,
  leader_latch,
  leader_selector,
};

/// A lock of each kind.
inline constexpr std::array<std::string_view, 9> one_of_each{
    "mutex",           "mutex-batch", "mutex-kept",   "read-write",     "read-write-shared",
    "semaphore-mutex", "semaphore",   "leader-latch", "leader-selector"};

/// Finds the kind of a lock. The lock's name is that of the kind, or begins with it and a hyphen:
/// `mutex-2`.
[[nodiscard]] std::optional<LockKind> kind_of(std::string_view lock);

/// The mode of an acquire.
enum class Use { exclusive, shared, permit };

/// Whether such a lock has readers beside each other.
[[nodiscard]] constexpr bool has_readers(LockKind kind) noexcept {
  return kind == LockKind::read_write || kind == LockKind::read_write_shared;
}

/// The number of permits of every semaphore of a run.
inline constexpr int permits = 2;

/// The number of times that a process may pass a lock on among its own waiters before it must
/// delete the node.
[[nodiscard]] constexpr int passes_of(LockKind kind) noexcept {
  // A process passes the lock on without a limit while nobody else wants it.
  if (kind == LockKind::mutex_kept || kind == LockKind::read_write_shared) {
    return std::numeric_limits<int>::max();
  }
  return kind == LockKind::mutex_batch ? 5 : 0;
}

/// The share that an acquire takes, as "takes/of", for the journal.
[[nodiscard]] std::string_view share_of(LockKind kind, Use use);

/// The nodes whose children are holders and waiters.
[[nodiscard]] std::vector<std::string> parents_of_contenders(const std::string& root,
                                                             const std::string& lock);

}  // namespace custodian::chaos
