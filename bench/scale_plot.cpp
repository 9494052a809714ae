#include "scale_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "drawing.hpp"
#include "metrics.hpp"

namespace custodian::bench {
namespace {

constexpr double panel_width = 210;
constexpr double panel_height = 120;
constexpr double left_of_panel = 74;
constexpr double right_of_panel = 26;
constexpr double above_panel = 24;
constexpr double below_panel = 48;
constexpr std::size_t in_a_row = 3;
constexpr double cell_width = left_of_panel + panel_width + right_of_panel;
constexpr double cell_height = above_panel + panel_height + below_panel;
constexpr double title_height = 26;
constexpr double top = 76;

constexpr std::array colours{"#4a90c2", "#d98c5f", "#6f9a4a", "#8a6fb0"};
const std::string grey = "#dddddd";

using Names = std::vector<std::string>;

std::string power_of_ten(int power) {
  if (power >= 0) return whole(std::llround(std::pow(10.0, power)));
  return "0." + std::string(static_cast<std::size_t>(-power) - 1, '0') + "1";
}

/// The contestant's colour. Ours always has the first one.
std::string colour_of(const Names& names, const std::string& name) {
  const auto place = std::find(names.begin(), names.end(), name) - names.begin();
  return colours.at(static_cast<std::size_t>(place) % colours.size());
}

/// Maps values to coordinates inside a panel.
class Inside {
 public:
  Inside(const Panel& panel, Place corner) : panel_{&panel}, corner_{corner} {}
  [[nodiscard]] double x(double size) const {
    return corner_.x + panel_width * panel_->x.part(size);
  }
  /// Draws a value beyond the axis, such as the lower end of a span, at the end of the axis.
  [[nodiscard]] double y(double value) const {
    const double part = value > 0 ? std::clamp(panel_->y.part(value), 0.0, 1.0) : 0;
    return corner_.y + panel_height * (1 - part);
  }

 private:
  const Panel* panel_;
  Place corner_;
};

void draw_axes(Drawing& drawing, const Panel& panel, const std::string& axis, Place corner) {
  const Inside inside{panel, corner};
  const double bottom = corner.y + panel_height;
  const std::string quiet = " font-size=\"10\" fill=\"#666666\"";
  for (int power = panel.x.from; power <= panel.x.to; ++power) {
    const double x = inside.x(std::pow(10.0, power));
    drawing.line(x, corner.y, x, bottom, grey);
    drawing.text(x, bottom + 14, power_of_ten(power), " text-anchor=\"middle\"" + quiet);
  }
  // Some powers of ten get no label, so that the labels do not overlap.
  const int step = (panel.y.to - panel.y.from - 1) / 6 + 1;
  for (int power = panel.y.from; power <= panel.y.to; power += step) {
    const double y = inside.y(std::pow(10.0, power));
    drawing.line(corner.x, y, corner.x + panel_width, y, grey);
    drawing.text(corner.x - 6, y + 4, power_of_ten(power), " text-anchor=\"end\"" + quiet);
  }
  drawing.frame(corner, panel_width, panel_height, "#999999");
  drawing.text(corner.x + panel_width / 2, bottom + 30, axis,
               " text-anchor=\"middle\" font-size=\"11\"");
}

void draw(Drawing& drawing, const Panel& panel, const std::string& axis, const Names& names,
          Place corner) {
  const Metric& what = metric(panel.metric);
  drawing.text(corner.x, corner.y - 7, std::string{what.title} + ", " + std::string{what.unit});
  draw_axes(drawing, panel, axis, corner);
  const Inside inside{panel, corner};
  // Ours is drawn last, and thinner: where lines coincide, both can be seen.
  for (auto place = panel.curves.rbegin(); place != panel.curves.rend(); ++place) {
    const Curve& curve = *place;
    const std::string colour = colour_of(names, curve.contestant);
    const double width = curve.contestant == our_name ? 2 : 3.5;
    std::vector<Place> places;
    for (const GrowthPoint& point : curve.points) {
      const double x = inside.x(point.size);
      places.push_back({x, inside.y(point.value.median)});
      drawing.line(x, inside.y(point.value.min), x, inside.y(point.value.max), colour);
    }
    drawing.curve(places, colour, width);
    for (const Place& dot : places) drawing.dot(dot, colour, 1.5 + width);
  }
}

double height_of(const std::vector<Panel>& panels) {
  const std::size_t rows = (panels.size() + in_a_row - 1) / in_a_row;
  return title_height + cell_height * static_cast<double>(rows);
}

Names all_contestants_of(const std::vector<Growth>& all) {
  Names names{our_name};
  for (const Growth& growth : all) {
    for (const std::string& name : contestants_of(growth)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

LogAxis LogAxis::around(const std::vector<double>& values) {
  std::vector<double> powers;
  for (const double value : values) {
    if (value > 0) powers.push_back(std::log10(value));
  }
  if (powers.empty()) return {};
  const auto [least, most] = std::minmax_element(powers.begin(), powers.end());
  LogAxis axis{static_cast<int>(std::floor(*least)), static_cast<int>(std::ceil(*most))};
  // If all values are the same power of ten, that power is in the middle of the axis.
  if (axis.from == axis.to) {
    --axis.from;
    ++axis.to;
  }
  return axis;
}

double LogAxis::part(double value) const { return (std::log10(value) - from) / (to - from); }

std::vector<Panel> panels(const Growth& growth) {
  std::vector<double> sizes;
  for (const WorkloadResult& workload : growth.sizes) sizes.push_back(workload.size);
  std::vector<Panel> result;
  for (const std::string& metric : growth.series.metrics) {
    Panel panel{metric, {}, {}, {}};
    std::vector<double> values;
    for (const std::string& name : contestants_of(growth)) {
      Curve curve{name, points(growth, name, metric)};
      std::erase_if(curve.points, [](const GrowthPoint& point) { return point.value.median <= 0; });
      for (const GrowthPoint& point : curve.points) {
        values.insert(values.end(), {point.value.min, point.value.median, point.value.max});
      }
      if (!curve.points.empty()) panel.curves.push_back(std::move(curve));
    }
    panel.x = LogAxis::around(sizes);
    panel.y = LogAxis::around(values);
    if (!panel.curves.empty()) result.push_back(std::move(panel));
  }
  return result;
}

std::string to_scale_svg(const RunResult& run) {
  const std::vector<Growth> all = growths(run);
  const Names names = all_contestants_of(all);
  double height = top;
  for (const Growth& growth : all) height += height_of(panels(growth));
  Drawing drawing{cell_width * in_a_row, height};
  drawing.text(10, 22, "How figures grow", " font-size=\"15\"");
  drawing.text(10, 40,
               "medians of the rounds (" + std::to_string(run.rounds) +
                   "), and their spans; both axes logarithmic");
  double x = 16;
  for (const std::string& name : names) {
    drawing.dot({x, 56}, colour_of(names, name), 4);
    drawing.text(x + 8, 60, name);
    x += 30 + 8 * static_cast<double>(name.size());
  }
  double y = top;
  for (const Growth& growth : all) {
    const std::vector<Panel> mine = panels(growth);
    drawing.text(10, y + 16, growth.series.title, " font-weight=\"bold\"");
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const std::size_t row = i / in_a_row;
      const std::size_t column = i % in_a_row;
      const Place corner{left_of_panel + cell_width * static_cast<double>(column),
                         y + title_height + above_panel + cell_height * static_cast<double>(row)};
      draw(drawing, mine[i], growth.series.axis, names, corner);
    }
    y += height_of(mine);
  }
  return drawing.finish();
}

}  // namespace custodian::bench
