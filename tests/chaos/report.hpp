#pragma once

/// \file
/// This function prints a verdict for people.

#include <ostream>

#include "judge.hpp"

namespace custodian::chaos {

/// Prints a table of faults, a table of writes, sums and the violations. The last line is "<n>
/// violations".
void print(std::ostream& out, const History& history, const Verdict& verdict);

}  // namespace custodian::chaos
