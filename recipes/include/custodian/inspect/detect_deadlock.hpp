#pragma once

/// \file
/// detect_deadlock() makes an acquire fail that waits in a circle: this process holds a lock for
/// which another one waits, and waits for a lock that the other one holds.
///
///     const AcquireOptions careful{.detect_deadlock = detect_deadlock({.below = "/locks"})};
///     Lease second = other.acquire(careful);  // resource_deadlock_would_occur, instead of never
///
/// The acquire then ends with resource_deadlock_would_occur (of `boost::system::errc`), and leaves
/// no node. Its caller releases what it holds, and begins again: so the others go on.
///
/// *What it takes for a deadlock.* The servers know sessions, and no threads. So a circle counts
/// only if it is made of claims that look single-threaded: each of its sessions waits exactly once
/// (waits for elections count, too, and so do the waits of this client's threads for each other),
/// and all that the session holds is older than its wait. Two looks in a row must show the same
/// circle, of the same nodes, `look_every` apart. A lock that this client keeps without a holder is
/// no hold. There is no deadlock, either, if a contender outside of the circle may end one of its
/// waits: another holder of a semaphore's permits, or a writer that waits in front of a reader.
///
/// *What it cannot know.* A process that holds a lock in one thread for longer than two looks,
/// while another thread waits with the only acquire of the process, looks like a process of one
/// thread that is deadlocked; so does a process whose threads pass a lock on among themselves
/// (`HandOff::cohort`). Limits of other processes are not known: a deadline, or
/// `LeaseOptions::hold_at_most`, would end the circle later. So leave the option off where
/// processes lock from several threads at once. The processes that use a path need not agree on the
/// option: it concerns only the acquires that have it.
///
/// *Which acquire fails.* The youngest of a circle, which has closed the circle, if it has the
/// option: at its second look. Each other acquire waits two looks more for each acquire of the
/// circle that is younger, so that with the same `look_every` exactly one acquire of a circle
/// fails. In circles that overlap several may fail.
///
/// *What it costs.* Nothing until the acquire has waited for `look_every`, and nothing for a client
/// that holds no lock, or has another acquire under way. Otherwise a list_locks() below `below`
/// each time: reads only, without a watch. A look that fails (no connection, nodes that may not be
/// read, more nodes than `max_nodes`) never ends the acquire, which goes on waiting; the log says
/// once when the nodes are the reason.
///
/// When not to use it: to make up for locks that are acquired in no certain order. Acquire them in
/// the same order everywhere, or with an InterProcessMultiLock, and there is no circle.
///
/// Threads: any.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "custodian/export.hpp"
#include "custodian/inspect/wait_cycles.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian {

/// The options of a detection.
struct DeadlockOptions {
  /// The path, in the client's namespace, below which all locks are that a process may acquire
  /// while it holds another. An acquire of a lock elsewhere ends with invalid_argument.
  std::string below = "/";
  /// How many nodes a look lists at most. In a larger tree nothing is detected. At least 1.
  std::size_t max_nodes = 10'000;
  /// The time from the beginning of the acquire to its first look, and from look to look; more than
  /// zero. By default the session timeout that the servers have granted.
  std::optional<std::chrono::nanoseconds> look_every{};
  /// Called with the circle when an acquire is about to fail; the circle begins with that acquire's
  /// wait. Runs on the client's callback executor, perhaps after the acquire has ended. May be
  /// empty.
  std::function<void(const WaitCycle& circle)> on_deadlock{};
};

/// Makes what `AcquireOptions::detect_deadlock` takes. Acquires of any clients may share it. Throws
/// Error: invalid_argument.
[[nodiscard]] CUSTODIAN_EXPORT DeadlockDetection detect_deadlock(DeadlockOptions options = {});

}  // namespace custodian
