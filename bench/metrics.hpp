#pragma once

/// \file
/// Metrics are the figures of a measurement: their names, and units.

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

/// Throws std::invalid_argument if no metric has this name.
[[nodiscard]] const Metric& metric(std::string_view name);

/// At least three significant digits, or two for a value below 1, with thousands separators.
[[nodiscard]] std::string figure(double value);

/// A whole number with all digits and thousands separators.
[[nodiscard]] std::string whole(std::int64_t number);

}  // namespace custodian::bench
