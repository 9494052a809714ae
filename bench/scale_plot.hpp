#pragma once

/// \file
/// The scale plot draws the series as small panels, with both axes logarithmic. Pure.

#include <string>
#include <vector>

#include "scale.hpp"

namespace custodian::bench {

/// A logarithmic axis from one power of ten to another.
struct LogAxis {
  int from = 0;
  int to = 1;

  /// The shortest axis that contains all values. Values that are not above 0 are ignored.
  [[nodiscard]] static LogAxis around(const std::vector<double>& values);
  /// The value's position: 0 at the beginning of the axis, 1 at its end.
  [[nodiscard]] double part(double value) const;
};

struct Curve {
  std::string contestant;
  std::vector<GrowthPoint> points;  ///< the points whose median is above 0
};

/// The panel of one metric of a series.
struct Panel {
  std::string metric;
  LogAxis x;
  LogAxis y;
  std::vector<Curve> curves;
};

/// The panels that have a curve, in the order of the series' metrics.
[[nodiscard]] std::vector<Panel> panels(const Growth& growth);

/// Draws the series as SVG: a block for each series of the run, a panel in it for each metric, and
/// in each panel a line for each contestant through the medians of the rounds, with their spans.
[[nodiscard]] std::string to_scale_svg(const RunResult& run);

}  // namespace custodian::bench
