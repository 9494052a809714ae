#pragma once

/// \file
/// A verdict as people read it.

#include <ostream>

#include "judge.hpp"

namespace custodian::chaos {

/// A table of faults, a table of writes, sums, the violations, and "<n> violations" as last line.
void print(std::ostream& out, const History& history, const Verdict& verdict);

}  // namespace custodian::chaos
