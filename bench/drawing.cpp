#include "drawing.hpp"

#include <algorithm>
#include <cmath>

namespace custodian::bench {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Drawing::Drawing(double width, double height) {
  out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
       << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
       << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
}

void Drawing::text(double x, double y, const std::string& text, const std::string& more) {
  out_ << "<text x=\"" << x << "\" y=\"" << y << "\"" << more << ">" << escaped(text)
       << "</text>\n";
}

void Drawing::bar(double from, double to, double y, const std::string& colour) {
  out_ << "<rect x=\"" << std::min(from, to) << "\" y=\"" << y << "\" width=\""
       << std::max(std::abs(to - from), 1.0) << "\" height=\"12\" fill=\"" << colour << "\"/>\n";
}

void Drawing::line(double x1, double y1, double x2, double y2, const std::string& colour) {
  out_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
       << "\" stroke=\"" << colour << "\"/>\n";
}

void Drawing::curve(const std::vector<Place>& places, const std::string& colour, double width) {
  out_ << "<polyline points=\"";
  for (const Place& place : places) out_ << place.x << "," << place.y << " ";
  out_ << "\" fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"" << width << "\"/>\n";
}

void Drawing::dot(Place place, const std::string& colour, double radius) {
  out_ << "<circle cx=\"" << place.x << "\" cy=\"" << place.y << "\" r=\"" << radius << "\" fill=\""
       << colour << "\"/>\n";
}

void Drawing::frame(Place corner, double width, double height, const std::string& colour) {
  out_ << "<rect x=\"" << corner.x << "\" y=\"" << corner.y << "\" width=\"" << width
       << "\" height=\"" << height << "\" fill=\"none\" stroke=\"" << colour << "\"/>\n";
}

std::string Drawing::finish() {
  out_ << "</svg>\n";
  return out_.str();
}

}  // namespace custodian::bench
