#pragma once

/// \file
/// Metrics are the figures of a measurement: their names, and units.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace custodian::bench {

struct Metric {
  std::string_view name;   ///< as in JSON
  std::string_view title;  ///< as in a table
  std::string_view unit;
  bool more_is_better;
};

/// In the order of a table's columns.
[[nodiscard]] std::span<const Metric> all_metrics();

/// Throws std::invalid_argument if there is none of the name.
[[nodiscard]] const Metric& metric(std::string_view name);

/// Three digits that count, two of what is below 1; thousands apart.
[[nodiscard]] std::string figure(double value);

/// A number of things: all digits; thousands apart.
[[nodiscard]] std::string whole(std::int64_t number);

}  // namespace custodian::bench
