#pragma once

/// \file
/// Rows of cells are formatted here; the first row is the head. Pure.

#include <string>
#include <vector>

namespace custodian::bench {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

/// "1,200 (1,100 .. 1,250)", the span being that of all rounds.
[[nodiscard]] std::string with_span(const std::vector<double>& values,
                                    const std::string& unit = {});

/// Of ratios: the median with the span, the quartiles, and of how many rounds. Not without values.
[[nodiscard]] Row ratio_cells(const std::vector<double>& ratios);

void append(Row& row, const Row& more);

/// As a table in Markdown, and an empty line.
[[nodiscard]] std::string markdown(const Rows& rows);
/// In columns, indented.
[[nodiscard]] std::string lines(const Rows& rows);

}  // namespace custodian::bench
