#pragma once

/// \file
/// These functions find a circle of waits that no thread of its processes can end, as far as a
/// listing can tell. Pure: a listing in, a circle out. Safe to use from any thread.
///
/// A session is a process, and not a thread. It may be taken for a thread, and a wait of it for
/// the wait of all that it does, only if nothing in the listing contradicts that:
///
/// 1. It waits exactly once, of whatever kind the lock is: an election counts, too.
/// 2. All that it holds is older than what it waits for: a thread that waits acquires nothing.
/// 3. It is a session: a node without an owner belongs to nobody that could wait.
///
/// A circle is made of such sessions only, and each waits for a lock that the next one holds. These
/// waits are left out, since something else may end them, or since the listing does not say enough:
///
/// - for a queue with a number that cannot be read, which stops all of its acquires;
/// - for permits of a semaphore, unless the waiter is the first in the line, has put down its
///   permits, and a single other session holds all others;
/// - of a reader for other readers, behind a writer that waits.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/wait_cycles.hpp"

namespace custodian::recipes_detail {

/// A wait of the client that looks.
struct OwnWait {
  std::int64_t session = 0;
  std::string_view queue;  ///< the parent of the waiting node
};

/// Finds a shortest circle through this wait, which is the first one of the circle.
[[nodiscard]] std::optional<WaitCycle> find_deadlock(const std::vector<ListedLock>& locks,
                                                     const OwnWait& own);

/// How many waits of the circle are younger than the first one.
[[nodiscard]] std::size_t younger_waits(const WaitCycle& circle);

/// What one acquire remembers from look to look. What is not ordered by the servers (the times of
/// the looks of several processes) decides as little as possible: a circle counts if two looks in a
/// row have shown it, with the same nodes; and the youngest waiter fails first, each other one two
/// looks later for each waiter that is younger.
class DeadlockMemory {
 public:
  /// Takes what a look has shown: whether the acquire is to fail.
  [[nodiscard]] bool on_look(const std::optional<WaitCycle>& circle);
  /// There was no look, or it has failed.
  void forget() noexcept { seen_ = 0; }

 private:
  /// The nodes of the last look, as their paths and transaction numbers.
  std::vector<std::string> nodes_;
  std::size_t seen_ = 0;  ///< by how many looks in a row
};

/// The circle as a sentence: "2 processes wait for each other: ...".
[[nodiscard]] std::string sentence_of(const WaitCycle& circle);

}  // namespace custodian::recipes_detail
