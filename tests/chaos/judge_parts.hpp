#pragma once

/// \file
/// The parts of judge(), each of which adds what it finds to the verdict.

#include <string>

#include "holds.hpp"
#include "judge.hpp"

namespace custodian::chaos {

[[nodiscard]] std::string describe(const Acquire& acquire);

/// One holder at a time, and tokens that grow.
void judge_order(const History& history, const Holds& holds, Verdict& verdict);
/// Locks that processes pass on among their own waiters.
void judge_passing_on(const History& history, const Holds& holds, Verdict& verdict);
/// Head starts, by kind.
void judge_faults(const History& history, const Holds& holds, Verdict& verdict);
/// False alarms.
void judge_losses(const History& history, Verdict& verdict);
/// Stale writes, and the order of those that landed.
void judge_writes(const History& history, const Holds& holds, Verdict& verdict);
/// Acquires that do not end, or end badly.
void judge_acquires(const History& history, Verdict& verdict);

}  // namespace custodian::chaos
