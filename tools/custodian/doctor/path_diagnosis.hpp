#pragma once

/// \file
/// The path's diagnosis says whether locks may be taken there, and by which others, judged by what
/// was tried. Pure.

#include <vector>

#include "doctor/diagnosis.hpp"

namespace custodian::cli {

/// Whether what existed was removed before the rest could be asked.
[[nodiscard]] bool is_gone(const PathFacts& facts);

[[nodiscard]] std::vector<Finding> diagnose_path(const PathFacts& facts);

}  // namespace custodian::cli
