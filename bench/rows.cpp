#include "rows.hpp"

#include "metrics.hpp"
#include "statistics.hpp"
#include "text/table.hpp"

namespace custodian::bench {

std::string with_span(const std::vector<double>& values, const std::string& unit) {
  const auto spread = spread_of(values);
  if (!spread) return "-";
  std::string text = figure(spread->median) + unit;
  if (spread->count > 1) text += " (" + figure(spread->min) + " .. " + figure(spread->max) + ")";
  return text;
}

Row ratio_cells(const std::vector<double>& ratios) {
  const Spread spread = spread_of(ratios).value();
  return {with_span(ratios, " x"),
          figure(spread.lower_quartile) + " .. " + figure(spread.upper_quartile),
          std::to_string(spread.count)};
}

void append(Row& row, const Row& more) { row.insert(row.end(), more.begin(), more.end()); }

std::string markdown(const Rows& rows) {
  std::string text;
  const auto line = [&](const Row& row) {
    for (const std::string& cell : row) text += "| " + cell + " ";
    text += "|\n";
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    line(rows[i]);
    if (i == 0) line(Row(rows[0].size(), "---"));
  }
  return text + "\n";
}

std::string lines(const Rows& rows) {
  std::string text;
  for (const std::string& line : cli::aligned(rows)) text += "  " + line + "\n";
  return text;
}

}  // namespace custodian::bench
