#pragma once

/// \file
/// judge() judges the history of a chaos run. Pure: its only input is that history.
///
/// A holder believes in its hold from the grant until it is notified of the loss, releases, or is
/// killed, whichever comes first. The margins are the library's own. Only what no library can
/// prevent is excused, and each rule names its excuses.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"

namespace custodian::chaos {

enum class Rule {
  /// All lines can be read, and the run is complete.
  complete,
  /// A lock never has more holders at once that believe in their holds than it admits. An earlier
  /// holder is excused if its process was stopped, or if its node was deleted by a third party.
  one_holder,
  /// The tokens of a lock grow strictly between grants that exclude each other, and no token is
  /// granted twice.
  tokens_grow,
  /// A lock is passed on with its node only within one process, not more often than allowed, and
  /// not after a holder was notified of its loss.
  rightly_passed_on,
  /// A guarded write that begins after the lock has gone to another node does not land. A fenced
  /// write that begins after a later holder's fenced write has landed does not land. Guarded writes
  /// land in the order of nodes: among the holders that share a node, only the token is a guard.
  no_stale_write,
  /// Every acquire ends within the patience of the run; the time of faults and stops does not
  /// count.
  no_endless_wait,
  /// No acquire fails, unless an operator deletes its node.
  no_failed_acquire,
  /// A holder that is cut off is notified before the lock is granted to the next holder.
  notice_before_reuse,
  /// No holder is notified of a loss without a fault that concerns it.
  no_false_alarm,
  /// In the end the servers have no node or watch left, and the clients no waiter.
  nothing_left,
  /// The run could have shown a failure: without the guard, stale writes would have landed; locks
  /// that admit several holders had several; and locks that may be passed on were passed on.
  proves_something,
};
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;

struct Violation {
  Rule rule = Rule::complete;
  std::string what{};
};

struct FaultStatistics {
  std::size_t faults = 0;
  std::size_t lost = 0;  ///< holds that the faults were aimed at, and that were lost
  std::size_t kept = 0;
  /// Times from a target's loss to the next grant, ascending.
  std::vector<Time> head_starts{};
};

struct LockStatistics {
  std::size_t grants = 0;
  std::size_t losses = 0;
  std::size_t most_at_once = 0;  ///< the most simultaneous holders, excused or not
  bool lets_in_several = false;
  std::size_t passed_on = 0;  ///< grants with the node of the previous holder
};

struct WriteStatistics {
  std::size_t attempted = 0;
  std::size_t landed = 0;
  std::size_t stale_attempted = 0;
  std::size_t stale_landed = 0;
};

struct Verdict {
  std::vector<Violation> violations{};
  std::map<FaultKind, FaultStatistics> faults{};
  std::map<WriteKind, WriteStatistics> writes{};
  std::map<std::string, LockStatistics> locks{};
  std::size_t acquires = 0;
  std::size_t grants = 0;
  std::size_t losses = 0;
  std::map<std::string, std::size_t> losses_by_reason{};
  Time length{0};        ///< the length of the run, from the first acquire on
  Time longest_wait{0};  ///< the longest wait for a grant, faults included
};

[[nodiscard]] Verdict judge(const History& history);

}  // namespace custodian::chaos
