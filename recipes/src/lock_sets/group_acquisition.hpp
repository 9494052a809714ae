#pragma once

/// \file
/// A group acquisition acquires several locks, or enough of them.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "acquire/acquire.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"

namespace custodian::recipes_detail {

/// The common part of all acquires of one group of locks. Immutable.
struct LockSet {
  std::vector<AnyLock> locks;
  std::size_t needed;  ///< how many of the locks must be acquired
  /// If set, a lock is passed over when its ensemble has been out of reach for this long.
  std::optional<std::chrono::nanoseconds> max_unreachable{};

  [[nodiscard]] std::size_t spare() const { return locks.size() - needed; }
  /// The client on whose strand the acquires of the group run.
  [[nodiscard]] const Client& home() const;
  /// The client on whose strand the acquire of this lock runs: the lock's own client, or for a
  /// custom lock the home client.
  [[nodiscard]] const Client& runner_of(const AnyLock& lock) const;
};

/// The client of a lock; null for a custom lock.
[[nodiscard]] const Client* client_of(const AnyLock& lock);

/// Starts an acquire of the group, from any thread. The handler runs on the home strand, or within
/// this call.
void start_acquire_group_within(const LockSetPtr& group, CancellationPtr cancellation,
                                WaitLimit wait_limit, AcquireOptions options,
                                Handler<GroupAcquireResult> handler);

}  // namespace custodian::recipes_detail
