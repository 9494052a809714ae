#pragma once

/// \file
/// A table has columns of printable text. Pure.

#include <string>
#include <vector>

namespace custodian::cli {

/// A row for each line, the first of them the head. Columns are as wide as they must be, with two
/// spaces between them and none at the end of a line.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace custodian::cli
