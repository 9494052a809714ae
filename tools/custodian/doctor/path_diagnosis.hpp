#pragma once

/// \file
/// The path's diagnosis says whether this client, and which other clients, may take locks at the
/// path. Pure: facts in, findings out.

#include <vector>

#include "doctor/diagnosis.hpp"

namespace custodian::cli {

/// Returns whether the path was removed while it was examined.
[[nodiscard]] bool is_gone(const PathFacts& facts);

[[nodiscard]] std::vector<Finding> diagnose_path(const PathFacts& facts);

}  // namespace custodian::cli
