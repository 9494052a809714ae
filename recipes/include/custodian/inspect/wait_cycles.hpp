#pragma once

/// \file
/// find_wait_cycles() finds waits that cannot end: session A holds a lock for which session B
/// waits, while B holds a lock for which A waits.
///
///     for (const WaitCycle& each : find_wait_cycles(list_locks(client, "/").locks)) ...
///
/// A session is a process, not a thread. A process that waits in one thread and releases in another
/// may be part of a cycle for a moment, so a cycle is a suspicion: look again, and if the same
/// cycle is still there, with the same tokens, it is hardly an accident.
///
/// These waits are not counted:
/// - waits for an election of a LeaderLatch: its members wait for as long as they live;
/// - waits of a session for itself, since threads of one process take turns;
/// - waits for a semaphore while one of its holders can still proceed: any permit will do.
///
/// A LeaderSelector's turn looks like a mutex, so two services that each lead once and wait once
/// may be reported.
///
/// When not to use it: to decide who must release. Pure. Threads: any.

#include <string>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/inspect/list_locks.hpp"

namespace custodian {

/// A session of a cycle, what it holds, and what it waits for.
struct CyclicWait {
  std::string wanted{};  ///< the path of the lock that the session waits for
  Participant waiter{};  ///< the session's contender there
  Participant holder{};  ///< the next session's contender there, which holds the lock
};

/// Sessions that wait for each other in a circle.
struct WaitCycle {
  /// Each session waits for a lock that the session of the next entry holds; the last session waits
  /// for the first. The first entry is that of the smallest session id.
  std::vector<CyclicWait> waits{};
  /// How many sessions wait for each other in all. If there are more sessions than `waits`, there
  /// are further circles among them, which are left out.
  std::size_t sessions = 0;
};

/// Finds the groups of sessions that wait for each other, and returns of each group a shortest
/// circle through its smallest session id. The groups are in the order of these ids.
[[nodiscard]] CUSTODIAN_EXPORT std::vector<WaitCycle> find_wait_cycles(
    const std::vector<ListedLock>& locks);

}  // namespace custodian
