#pragma once

/// \file
/// The parts of judge(). Each adds its findings to the verdict.

#include <string>

#include "holds.hpp"
#include "judge.hpp"

namespace custodian::chaos {

[[nodiscard]] std::string describe(const Acquire& acquire);

/// Judges the number of holders at a time, and the order of tokens.
void judge_order(const History& history, const Holds& holds, Verdict& verdict);
/// Judges locks that processes pass on among their own waiters.
void judge_passing_on(const History& history, const Holds& holds, Verdict& verdict);
/// Judges, for each kind of fault, whether holders were notified of the loss before the next grant,
/// and how long before.
void judge_faults(const History& history, const Holds& holds, Verdict& verdict);
/// Judges false alarms.
void judge_losses(const History& history, Verdict& verdict);
/// Judges stale writes, and the order of the writes that landed.
void judge_writes(const History& history, const Holds& holds, Verdict& verdict);
/// Judges acquires that do not end, or fail.
void judge_acquires(const History& history, Verdict& verdict);

}  // namespace custodian::chaos
