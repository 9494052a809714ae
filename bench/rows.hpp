#pragma once

/// \file
/// Rows are a table of text, whose first row is the head. These functions format them. Pure.

#include <string>
#include <vector>

namespace custodian::bench {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

/// The median with the span of all rounds, such as "1,200 (1,100 .. 1,250)".
[[nodiscard]] std::string with_span(const std::vector<double>& values,
                                    const std::string& unit = {});

/// Three cells for ratios: the median with the span, the quartiles, and the number of rounds. There
/// must be at least one value.
[[nodiscard]] Row ratio_cells(const std::vector<double>& ratios);

void append(Row& row, const Row& more);

/// Formats the rows as a Markdown table, followed by an empty line.
[[nodiscard]] std::string markdown(const Rows& rows);
/// Formats the rows as aligned columns, indented.
[[nodiscard]] std::string lines(const Rows& rows);

}  // namespace custodian::bench
