#pragma once

/// \file
/// These functions find a circle of waits that no thread of its processes can end, as far as a
/// listing can tell. Pure: a listing in, a circle out. Safe to use from any thread.
///
/// A session is a process, not a thread. It may be taken for a thread, and its one wait for the
/// wait of all its work, only if nothing in the listing contradicts that:
///
/// 1. The session waits exactly once, for whatever kind of lock: a candidacy counts, too.
/// 2. All that it holds is older than what it waits for: a thread that waits acquires nothing.
/// 3. It is a session: a node without an owner belongs to no process that could wait.
///
/// A circle consists of such sessions only, and each waits for a lock that the next one holds. Some
/// waits are left out, since something else may end them, or since the listing does not say enough:
///
/// - a wait in a queue with an unreadable number, which stops all acquires of that queue;
/// - a wait for permits of a semaphore, unless the waiter is the first in the line, has created its
///   permits' nodes, and a single other session holds all other permits;
/// - a reader's wait for other readers, behind a writer that waits.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/wait_cycles.hpp"

namespace custodian::recipes_detail {

/// A wait of the client that searches.
struct OwnWait {
  std::int64_t session = 0;
  std::string_view queue;  ///< the parent of the waiting node
};

/// Finds a shortest circle through this wait. The wait is the first one of the circle.
[[nodiscard]] std::optional<WaitCycle> find_deadlock(const std::vector<ListedLock>& locks,
                                                     const OwnWait& own);

/// How many waits of the circle are younger than the first one.
[[nodiscard]] std::size_t younger_waits(const WaitCycle& circle);

/// What one acquire remembers from look to look. The looks of several processes are not ordered by
/// the servers, so their times decide as little as possible. A circle counts if two looks in a row
/// have shown it, with the same nodes. The youngest waiter fails first; any other waiter fails two
/// looks later for each younger waiter in the circle.
class DeadlockMemory {
 public:
  /// Notes the circle that a look has shown. Returns whether the acquire is to fail.
  [[nodiscard]] bool on_look(const std::optional<WaitCycle>& circle);
  /// Notes that there was no look, or that it has failed.
  void forget() noexcept { seen_ = 0; }

 private:
  /// The nodes of the last look, as their paths and transaction numbers.
  std::vector<std::string> nodes_;
  std::size_t seen_ = 0;  ///< how many looks in a row have shown them
};

/// The circle as a sentence: "2 processes wait for each other: ...".
[[nodiscard]] std::string sentence_of(const WaitCycle& circle);

}  // namespace custodian::recipes_detail
