#pragma once

/// \file
/// Drawing is a picture in SVG. Pure.

#include <sstream>
#include <string>
#include <vector>

namespace custodian::bench {

struct Place {
  double x = 0;
  double y = 0;
};

/// Coordinates are in pixels from the upper left corner. Threads: one.
class Drawing {
 public:
  Drawing(double width, double height);
  /// `more` has further attributes, each with a space in front.
  void text(double x, double y, const std::string& text, const std::string& more = {});
  void bar(double from, double to, double y, const std::string& colour);
  void line(double x1, double y1, double x2, double y2, const std::string& colour);
  /// Draws a line through the places, in their order.
  void curve(const std::vector<Place>& places, const std::string& colour, double width);
  void dot(Place place, const std::string& colour, double radius);
  void frame(Place corner, double width, double height, const std::string& colour);
  [[nodiscard]] std::string finish();

 private:
  std::ostringstream out_;
};

}  // namespace custodian::bench
