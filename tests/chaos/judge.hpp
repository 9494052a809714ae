#pragma once

/// \file
/// judge() judges the history of a chaos run. Pure: it knows nothing but what was written down.
///
/// A hold is believed in from its grant until its holder was notified of the loss, or released, or
/// was killed, whichever came first. The margins are the library's own: nothing is forgiven but
/// what no library can prevent, which is said at each rule.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"

namespace custodian::chaos {

enum class Rule {
  /// Every line can be read, and the run has come to its end.
  complete,
  /// No more holders believe in one lock at once than it lets in; but for an earlier one if its
  /// process was stopped, or if somebody has taken its node away.
  one_holder,
  /// Of each lock, tokens grow strictly from grant to grant, where the two exclude each other, and
  /// none is granted twice.
  tokens_grow,
  /// A lock is passed on with its node within one process, no more often than it may be, and not
  /// once a holder was notified of its loss.
  rightly_passed_on,
  /// A guarded write that begins when the lock has gone to another node does not land, nor does a
  /// fenced one that begins when one of a later holder has landed. Guarded writes land in the order
  /// of nodes: between the holders that one process passes a node on to, there is no guard but the
  /// token.
  no_stale_write,
  /// Every acquire ends, and soon, not counting the time of faults and stops.
  no_endless_wait,
  /// No acquire fails, unless its node is deleted by an operator.
  no_failed_acquire,
  /// A holder that is cut off is notified before the next one is granted.
  notice_before_reuse,
  /// No holder is notified of a loss without a fault that concerns it.
  no_false_alarm,
  /// In the end the servers have no node, watch or waiter left.
  nothing_left,
  /// The run has had what it is to show: without the guard, stale writes would have landed; locks
  /// that let in several have had several in; and those that may be passed on were.
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
  /// From the loss to the next grant, ascending; of holds that were lost and passed on.
  std::vector<Time> head_starts{};
};

struct LockStatistics {
  std::size_t grants = 0;
  std::size_t losses = 0;
  std::size_t most_at_once = 0;  ///< holders who believed in it, whether excused or not
  bool lets_in_several = false;
  std::size_t passed_on = 0;  ///< grants with the node of the holder before
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
  Time length{0};        ///< of the run, from the first acquire on
  Time longest_wait{0};  ///< for a grant, faults included
};

[[nodiscard]] Verdict judge(const History& history);

}  // namespace custodian::chaos
