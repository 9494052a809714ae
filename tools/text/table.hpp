#pragma once

/// \file
/// A table has columns of printable text. Pure.

#include <string>
#include <vector>

namespace custodian::cli {

/// Makes a line of each row; the first row is the head. Columns are as wide as their longest cell,
/// with two spaces between columns and none at the end of a line.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace custodian::cli
