#pragma once

/// \file
/// Common parts of the targets. A target is a function that takes any bytes, passes them to a
/// parser, and throws Broken if the result breaks a promise. It keeps no state between calls.
/// libFuzzer generates inputs (entry.cpp); an ordinary test also replays those kept in corpus/
/// (replay_test.cpp).

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::fuzz {

/// Thrown if a parser's result breaks a promise.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const char* promise) {
  if (!holds) throw Broken{promise};
}

/// The parts between the separators. Text without a separator is one part.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Takes the first line off the text.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Returns whether the text is one line that cannot control a log or a terminal.
inline bool is_one_line(std::string_view text) {
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20 || byte == 0x7F) return false;
  }
  return !text.empty();
}

}  // namespace custodian::fuzz
