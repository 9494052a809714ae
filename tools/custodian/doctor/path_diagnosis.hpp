#pragma once

/// \file
/// Whether locks may be taken at a path, and who else may, judged by what was tried there. Pure.

#include <vector>

#include "doctor/diagnosis.hpp"

namespace custodian::cli {

/// Whether what existed was removed before the rest could be asked.
[[nodiscard]] bool is_gone(const PathFacts& facts);

[[nodiscard]] std::vector<Finding> diagnose_path(const PathFacts& facts);

}  // namespace custodian::cli
