#include "plot.hpp"

#include <algorithm>
#include <cmath>

#include "drawing.hpp"
#include "metrics.hpp"

namespace custodian::bench {
namespace {

constexpr double label_width = 190;
constexpr double scale_width = 480;
constexpr double value_width = 210;
constexpr double row_height = 20;
constexpr double panel_gap = 46;
constexpr double top = 70;

struct Bar {
  std::string peer;
  Spread times_better;
};

struct Panel {
  std::string title;
  std::vector<Bar> bars;
};

std::vector<Panel> panels(const RunResult& run) {
  std::vector<Panel> result;
  for (const WorkloadResult& workload : run.workloads) {
    const ContestantResult* ours = find(workload, our_name);
    if (ours == nullptr) continue;
    const Metric& figure = metric(workload.figure);
    Panel panel{workload.title + ": " + std::string{figure.title}, {}};
    for (const ContestantResult& peer : workload.contestants) {
      if (&peer == ours) continue;
      std::vector<double> values = figure.more_is_better
                                       ? ratios(ours->rounds, peer.rounds, workload.figure)
                                       : ratios(peer.rounds, ours->rounds, workload.figure);
      std::erase_if(values, [](double value) { return value <= 0; });
      if (const auto spread = spread_of(values))
        panel.bars.push_back({peer.name + (peer.durability == "none" ? " *" : ""), *spread});
    }
    if (!panel.bars.empty()) result.push_back(std::move(panel));
  }
  return result;
}

/// A logarithmic scale, between the nearest whole powers of ten that contain all values.
struct Scale {
  int from = 0;
  int to = 1;
  void include(double value) {
    from = std::min(from, static_cast<int>(std::floor(std::log10(value))));
    to = std::max(to, static_cast<int>(std::ceil(std::log10(value))));
  }
  [[nodiscard]] double place(double value) const {
    return label_width + scale_width * (std::log10(value) - from) / (to - from);
  }
};

void draw(Drawing& drawing, const Panel& panel, const Scale& scale, double y) {
  const double bottom = y + row_height * static_cast<double>(panel.bars.size()) + 6;
  drawing.text(10, y - 6, panel.title, " font-weight=\"bold\"");
  for (int power = scale.from; power <= scale.to; ++power) {
    const double value = std::pow(10.0, power);
    const double x = scale.place(value);
    drawing.line(x, y, x, bottom, power == 0 ? "black" : "#dddddd");
    drawing.text(x, bottom + 12, figure(value), " text-anchor=\"middle\" fill=\"#666666\"");
  }
  for (const Bar& bar : panel.bars) {
    const Spread& times = bar.times_better;
    drawing.text(label_width - 8, y + 15, bar.peer, " text-anchor=\"end\"");
    drawing.bar(scale.place(1), scale.place(times.median), y + 5,
                times.median >= 1 ? "#4a90c2" : "#d98c5f");
    drawing.line(scale.place(times.min), y + 11, scale.place(times.max), y + 11, "black");
    drawing.text(
        label_width + scale_width + 12, y + 15,
        figure(times.median) + " (" + figure(times.min) + " .. " + figure(times.max) + ")");
    y += row_height;
  }
}

}  // namespace

std::string to_svg(const RunResult& run) {
  const std::vector<Panel> all = panels(run);
  Scale scale;
  double height = top;
  for (const Panel& panel : all) {
    height += row_height * static_cast<double>(panel.bars.size()) + panel_gap;
    for (const Bar& bar : panel.bars) {
      scale.include(bar.times_better.min);
      scale.include(bar.times_better.max);
    }
  }
  Drawing drawing{label_width + scale_width + value_width, height};
  drawing.text(10, 22, "How many times better Custodian was than each peer", " font-size=\"15\"");
  drawing.text(10, 40,
               "median of " + std::to_string(run.rounds) +
                   " rounds, their span as a line; logarithmic; left of 1 the peer was better; "
                   "* keeps its locks in memory only");
  double y = top + 16;
  for (const Panel& panel : all) {
    draw(drawing, panel, scale, y);
    y += row_height * static_cast<double>(panel.bars.size()) + panel_gap;
  }
  return drawing.finish();
}

}  // namespace custodian::bench
