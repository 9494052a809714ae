#pragma once

/// \file
/// History is the record that the workers of the demo write, and the input of judge().
///
/// Each hold of the lock is one line, "process token node in out", appended by its holder while it
/// holds the lock. `in` and `out` are read from the boot clock, which all processes of a machine
/// share.

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::demo {

/// One hold of the lock, as its holder recorded it.
struct Hold {
  int process = 0;
  std::int64_t token = 0;
  std::string node{};
  std::int64_t in = 0;   ///< nanoseconds of the boot clock, after the acquire
  std::int64_t out = 0;  ///< nanoseconds of the boot clock, before the release

  friend bool operator==(const Hold&, const Hold&) = default;
};

/// Formats a hold as a line, with the line break.
[[nodiscard]] std::string to_line(const Hold& hold);
/// Parses a line of to_line(), without the line break; nothing if the text is not exactly one.
[[nodiscard]] std::optional<Hold> parse_line(std::string_view line);

struct Verdict {
  std::vector<Hold> holds{};  ///< in the order of the file
  std::size_t malformed = 0;  ///< lines that cannot be parsed, or whose hold ends before it begins
  std::size_t overlaps = 0;   ///< holds that began before an earlier one had ended
  /// Holds whose token, or place in the queue, is not above that of the hold before.
  std::size_t disorders = 0;
  /// Descriptions of the first few faults.
  std::vector<std::string> faults{};

  [[nodiscard]] bool flawless() const noexcept { return malformed + overlaps + disorders == 0; }
};

/// Judges a history by its lines alone. Pure.
[[nodiscard]] Verdict judge(std::istream& history);

}  // namespace custodian::demo
