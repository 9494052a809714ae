#pragma once

/// \file
/// Metrics are the figures of a measurement: their names and their units.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace custodian::bench {

struct Metric {
  std::string_view name;   ///< the name in JSON
  std::string_view title;  ///< the name in a table
  std::string_view unit;
  bool more_is_better;
};

/// All metrics, in the order of a table's columns.
[[nodiscard]] std::span<const Metric> all_metrics();

/// Finds a metric by its name. Throws std::invalid_argument if there is none.
[[nodiscard]] const Metric& metric(std::string_view name);

/// Formats a value with at least three significant digits, or two if it is below 1, and with
/// thousands separators.
[[nodiscard]] std::string figure(double value);

/// Formats a whole number with all its digits and with thousands separators.
[[nodiscard]] std::string whole(std::int64_t number);

}  // namespace custodian::bench
