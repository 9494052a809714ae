#pragma once

/// \file
/// The scale plot draws the series: small panels, both axes logarithmic. Pure.

#include <string>
#include <vector>

#include "scale.hpp"

namespace custodian::bench {

/// From one power of ten to another.
struct LogAxis {
  int from = 0;
  int to = 1;

  /// The shortest axis with all values. A value that is not above 0 has no place on it, and is left
  /// out.
  [[nodiscard]] static LogAxis around(const std::vector<double>& values);
  /// 0 for its beginning, 1 for its end.
  [[nodiscard]] double part(double value) const;
};

struct Curve {
  std::string contestant;
  std::vector<GrowthPoint> points;  ///< none whose median is not above 0
};

/// One metric of a series.
struct Panel {
  std::string metric;
  LogAxis x;
  LogAxis y;
  std::vector<Curve> curves;
};

/// In the series' order, those that have a curve.
[[nodiscard]] std::vector<Panel> panels(const Growth& growth);

/// SVG: a block for each series that the run has, a panel for each of its metrics, a line for each
/// contestant through the medians of the rounds, and their spans.
[[nodiscard]] std::string to_scale_svg(const RunResult& run);

}  // namespace custodian::bench
